"""LLVM instructions that numba offers no function for, as functions for compiled code."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _of_word(build) -> Any:
    """Return an instruction that maps a word to a word (uint64)."""

    @intrinsic
    def instruction(typing, word):
        return types.uint64(types.uint64), lambda context, builder, signature, words: build(builder, words[0])

    return instruction


def _prefetch() -> Any:
    """Return `llvm.prefetch` for an element of an array."""

    @intrinsic
    def prefetch(typing, numbers, place):
        def build(context, builder, signature, values):
            array = context.make_array(numbers)(context, builder, values[0])
            byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
            called = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(ir.VoidType(), [byte, number, number, number]), "llvm.prefetch.p0"
            )
            address = builder.bitcast(builder.gep(array.data, [values[1]]), byte)
            builder.call(
                called, [address, number(0), number(3), number(1)]
            )  # for reading, keep in the nearest cache, data cache
            return context.get_dummy_value()

        return types.void(numbers, place), build

    return prefetch


ones = _of_word(lambda builder, word: builder.ctpop(word))
"""`ones(word)`: the number of bits set."""

lowest = _of_word(lambda builder, word: builder.cttz(word, ir.Constant(ir.IntType(1), 1)))
"""`lowest(word)`: the index of the lowest bit set; at least one must be."""

fetch = _prefetch()
"""`fetch(numbers, place)`: start loading `numbers[place]` into the cache, without waiting; it may not exist."""
