# Sourced by the scripts beside it: makes the virtual environment $1 with the extras $2, or finds it made, and enters it.
# PYTHON names the interpreter (3.11 or later).
environment="$1"
extras="$2"
stamp="$environment/.made-from"
version="$("${PYTHON:-python3}" -c 'import sys; print(sys.version)')"
wanted="$(cat pyproject.toml scripts/constraints.txt; echo "$extras"; echo "$version")"
if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
    "${PYTHON:-python3}" -c 'import sys; sys.exit("pcneo needs Python 3.11 or later" if sys.version_info < (3, 11) else 0)'
    if [ -e "$environment" ] && [ ! -e "$stamp" ]; then
        echo "$environment is there already and was not made by this script. Move it away first." >&2
        exit 1
    fi
    echo "Making $environment (once; some minutes; 0.7 GB, or 1.1 GB with the peers of the benchmark)"
    rm -rf "$environment"
    "${PYTHON:-python3}" -m venv "$environment"
    touch "$stamp"   # from here on it is ours, also where the rest fails
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check \
        --constraint scripts/constraints.txt --editable ".[$extras]"
    printf '%s' "$wanted" >"$stamp"
fi
. "$environment/bin/activate"
