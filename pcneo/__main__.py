"""`python -m pcneo`: the command `pcneo`."""

from pcneo.cli.main import main

if __name__ == "__main__":
    main()
