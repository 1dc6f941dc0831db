# Sourced by the scripts beside it: makes the virtual environment $1 with the extras $2, or finds it made, and enters it.
# PYTHON names the interpreter (3.11 or later).
environment="$1"
extras="$2"
stamp="$environment/.made-from"
# The interpreter itself, not that of an environment which may be the one that is made anew.
python="$("${PYTHON:-python3}" -c 'import sys; print(getattr(sys, "_base_executable", sys.executable))')"
"$python" -c 'import sys; sys.exit("pcneo needs Python 3.11 or later" if sys.version_info < (3, 11) else 0)'
wanted="$("$python" - "$extras" <<'END'
import sys, tomllib
from pathlib import Path
settings = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
packages = settings["build-system"], settings["project"], Path("scripts/constraints.txt").read_text()
print(*packages, *sys.argv, sys.version, Path.cwd())  # an environment that was copied along would run the old checkout
END
)"
if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
    if [ -e "$environment" ] && [ ! -e "$stamp" ]; then
        echo "$environment is there already and was not made by this script. Move it away first." >&2
        exit 1
    fi
    case "$extras" in
        *dev*) size="1.8 GB" ;;
        *mutants*) size="1.5 GB" ;;
        *bench*) size="1.2 GB" ;;
        *) size="1 GB" ;;
    esac
    echo "Making $environment (once; some minutes; about $size)"
    rm -rf "$environment"
    "$python" -m venv "$environment"
    touch "$stamp"   # from here on it is ours, also where the rest fails
    # uv takes a fifth of pip's time. It does not read pip's settings, such as a proxy: where it fails for that, pip does it.
    # What is imported is compiled then, a small part of what is installed.
    pinned=(--constraint scripts/constraints.txt)
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile "${pinned[@]}" uv
    "$environment/bin/uv" pip install --quiet --python "$environment/bin/python" "${pinned[@]}" --editable ".[$extras]" ||
        "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile "${pinned[@]}" \
            --editable ".[$extras]"
    printf '%s' "$wanted" >"$stamp"
fi
. "$environment/bin/activate"
