"""Compiled code on plain arrays: numpy and numba only, no objects, no knowledge of keys."""

import os
from contextlib import suppress

from pcneo.errors import ParameterError
from pcneo.kernels.compiled_code import have_a_folder

with suppress(ValueError):  # numba itself ignores what is not a whole number
    if int(os.environ.get("NUMBA_NUM_THREADS", "1")) < 1:  # numba itself would end in a traceback
        raise ParameterError("NUMBA_NUM_THREADS must be 1 or more. Unset it.", name="NUMBA_NUM_THREADS", value=0)

have_a_folder()
