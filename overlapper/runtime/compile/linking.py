"""Calls between compiled functions: short ones are copied into their callers, long ones are called.

numba puts the code of every function that a kernel calls into the kernel, and has LLVM optimise and translate
all of it once more. So code that is called over five others is compiled six times, though LLVM copies only
short functions into their callers. Here a function that is too long for that stays where it is: it is
compiled once, and callers name it. In the cache a kernel has the machine code of what it calls with it.

numba (0.62 to 0.68) has no such choice, so this takes the place of its `JITCodeLibrary` for kernels, and for
nothing else. A function that is only copied is optimised where it was put, and gets no machine code of its
own. There are two more things that only compiling needs, and that wait until something is compiled: the
bitcode of a kernel from the cache, which others may copy from, is parsed, and its symbols are listed.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from numba.core import codegen, compiler
from numba.core.environment import lookup_environment

from overlapper.runtime.compile.assigning import without_shapes
from overlapper.runtime.compile.garbage import searched_seldom
from overlapper.runtime.compile.indexing import without_strides
from overlapper.runtime.compile.overloads import for_kernels
from overlapper.runtime.compile.parts import taken_from_values
from overlapper.runtime.compile.passes import needed, when_needed
from overlapper.runtime.compile.ranges import begun_without_division
from overlapper.runtime.compile.references import of_counted_parts
from overlapper.runtime.compile.variables import used_as_they_are

LONGEST_COPIED = 1500
"""Instructions, before LLVM's passes for modules, of the longest function that is put into its callers, with
what was put into it. Kernels take as long to compile with 500 of the function alone."""
_WRAPPERS = "_ZN7cpython", "cfunc."


class Compiler(compiler.Compiler):
    """numba's compiler, which puts what it makes into a `Library`."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function."""
        if self.state.library is None:
            self.state.library = Library(self.state.targetctx.codegen(), func.__qualname__)
            self.state.library.enable_object_caching()
        with (
            without_shapes(), for_kernels(Compiler), searched_seldom(), when_needed(),
            of_counted_parts(), without_strides(), taken_from_values(), used_as_they_are(),
            begun_without_division(),
        ):  # fmt: skip
            return super().compile_extra(func)

    def define_pipelines(self) -> list[Any]:
        """Return the passes over the function, as the only way to compile it."""
        return [needed(self.state)]


class Library(codegen.JITCodeLibrary):
    """The machine code of a function, and of what was put into it.

    Attributes
    ----------
    symbol : str
        Name of the function, where callers call it; empty where they take a copy of it.
    called : dict of str to Library
        What its code calls, and what that calls, by symbol.
    """

    def __init__(self, generator: Any, name: str) -> None:
        super().__init__(generator, name)
        self.symbol = ""
        self.called: dict[str, Library] = {}
        self._object_code = self._bitcode = b""
        self._is_copied = False

    def add_linking_library(self, library: Any) -> None:
        """Link the functions of another library: call its function, or copy it."""
        library._ensure_finalized()
        if isinstance(library, Library):
            self.called |= library.called
            if library.symbol:
                self.called[library.symbol] = library
                return
        super().add_linking_library(library)

    def state(self) -> tuple[Any, ...]:
        """Return what `loaded` takes."""
        self._ensure_finalized()
        called = [(library.name, symbol, library._machine_code()) for symbol, library in self.called.items()]
        bitcode = b"" if self.symbol else self._bitcode or self._get_module_for_linking().as_bitcode()
        return self.name, self.symbol, self._machine_code(), bitcode, called

    @classmethod
    def loaded(cls, generator: Any, state: tuple[Any, ...]) -> Library:
        """Return the library of a state, and load what it calls, unless that is there."""
        name, symbol, machine_code, bitcode, called = state
        loaded = {}
        for of_called, symbol_called, code in called:
            there = _loaded.get(symbol_called)
            if there is None or there._machine_code() != code:
                cls._of(generator, of_called, symbol_called, code)
            loaded[symbol_called] = _loaded[symbol_called]
        library = cls._of(generator, name, symbol, machine_code)
        library._bitcode, library.called = bitcode, loaded
        return library

    @classmethod
    def _of(cls, generator: Any, name: str, symbol: str, machine_code: bytes) -> Library:
        library = cls(generator, name)
        library._object_code = machine_code
        library.enable_object_caching()
        library._is_copied = not machine_code
        if machine_code:
            library._set_compiled_object(machine_code)
        library._finalize_final_module()
        library._name_symbol(symbol)
        return library

    def _name_symbol(self, symbol: str) -> None:
        self.symbol = symbol
        if symbol:
            _loaded[symbol] = self

    def _machine_code(self) -> bytes:
        return b"" if self._is_copied else self._object_code or self._get_compiled_object()

    @property
    def codegen(self) -> Any:
        """What has the addresses of the code; of code that is only copied there are none."""
        return _Nowhere if self._is_copied else self._codegen

    def _optimize_functions(self, ll_module: Any) -> None:
        """Run LLVM's passes for functions; numba prepares them for each anew, and for what is only named."""
        ll_module.data_layout = self._codegen._data_layout
        passes, builder = self._codegen._function_pass_manager()
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)

    def _optimize_final_module(self) -> None:
        """Run LLVM's passes for modules, unless callers, which take copies, are all that there is for it."""
        self._name_symbol(self._symbol_if_long())
        self._is_copied = not self.symbol and not self._has_wrapper()
        if not self._is_copied:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        """Make machine code of the function, unless it is only copied."""
        if not self._object_code:
            self._finalize_dynamic_globals()
        if self._is_copied:
            self._finalized = True
            return
        super()._finalize_final_module()
        generator: Any = self._codegen
        for variable in self._final_module.global_variables:
            environment = lookup_environment(variable.name)
            if environment is not None:
                generator.set_env(variable.name, environment)

    def _has_wrapper(self) -> bool:
        functions = self._final_module.functions
        return any(f.name.startswith(_WRAPPERS) and not f.is_declaration for f in functions)

    def _symbol_if_long(self) -> str:
        """Return the name of the function if it is called, not copied.

        Functions within functions may have the same name in another process, and be others.
        """
        if "<locals>" in self.name or self._dynamic_globals:
            return ""
        names = [
            f.name
            for f in self._final_module.functions
            if not f.is_declaration
            and f.linkage == llvm.Linkage.external
            and not f.name.startswith(_WRAPPERS)
        ]
        if len(names) != 1:
            return ""
        function = self._final_module.get_function(names[0])
        if any(b"alwaysinline" in group for group in function.attributes):
            return ""
        return names[0] if _count_instructions(self._final_module) > LONGEST_COPIED else ""

    def get_pointer_to_function(self, name: str) -> Any:
        """Return the address of a function; what came from the cache has its name looked for there."""
        if b"\0%b\0" % name.encode() in self._object_code:  # in its table of strings
            self._codegen._engine._defined_symbols.add(name)
        return super().get_pointer_to_function(name)

    def _get_module_for_linking(self) -> Any:
        if self._bitcode and self._shared_module is None:
            self._shared_module = llvm.parse_bitcode(self._bitcode)
        return super()._get_module_for_linking()


def _count_instructions(module: Any) -> int:
    """Return the number of instructions of a module, which is sooner counted in its text than one by one.

    They are indented by two spaces; so is the end of a switch, whose cases are indented further.
    """
    text = str(module)
    return text.count("\n  ") - text.count("\n    ") - text.count("\n  ]")


class _Nowhere:
    """Stands for the addresses of a function that is only copied, which has none."""

    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Do nothing: functions that hold a copy set the environment themselves."""


_loaded: dict[str, Library] = {}
"""Functions that are called where they are, of this process, by symbol."""
