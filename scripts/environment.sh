# Sourced by the scripts beside it: makes the virtual environment $1 with the extras $2, or finds it made, and enters it.
# PYTHON names the interpreter (3.11 or later).
environment="$1"
extras="$2"
stamp="$environment/.made-from"
wanted="$(cat pyproject.toml scripts/constraints.txt; echo "$extras")"
if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
    "${PYTHON:-python3}" -c 'import sys; sys.exit("pcneo needs Python 3.11 or later" if sys.version_info < (3, 11) else 0)'
    echo "Making $environment (once)"
    rm -rf "$environment"
    "${PYTHON:-python3}" -m venv "$environment"
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check \
        --constraint scripts/constraints.txt --editable ".[$extras]"
    printf '%s' "$wanted" >"$stamp"
fi
. "$environment/bin/activate"
