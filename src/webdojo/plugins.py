"""Plugs: the parts of webdojo that anyone can replace, and the one way in which a name finds them.

A recipe names a plug in one of four ways:

    dojo                      built in
    notes                     an entry point of an installed package, in the group of its registry (`webdojo.envs`)
    my_package.module:Notes   an import path
    ./my_env.py:Notes         a file, beside the recipe's own or in the working folder

A plug with options is a class derived from `Plug`, whose fields are its keys in the recipe; so `--dry-run`, the errors
for unknown keys and `docs/recipes.md` know them. Whoever owns a kind of plug makes one `Registry` of it, in a module
that imports the built-in ones, or says where they are (`ImportedLater`).
"""

from __future__ import annotations

import difflib
import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from traceback import walk_tb
from types import MappingProxyType, ModuleType
from typing import Any, Generic, TypeVar

from pydantic import AfterValidator, BeforeValidator, SerializeAsAny, model_validator
from pydantic.fields import FieldInfo

from webdojo.config import Section
from webdojo.errors import ConfigError, WebdojoError, one_line
from webdojo.memory import is_out_of_memory

T = TypeVar("T")

PACKAGE = Path(__file__).parent
BUGS = (ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError, TypeError)
"""Errors of code that is wrong, which another try meets again; what a network or a file raises may pass."""
_OF_FILE = "webdojo_plug_"
"""How the names of modules begin that are read from files."""


class Plug(Section):
    """A plug with options: derive a class and give it fields.

    An instance built without a `name` is named by the file or the import path of its class.
    """

    name: str = ""
    """Which one: a built-in name, that of an installed plugin, `package.module:Name`, or `./file.py:Name`."""

    @model_validator(mode="after")
    def _named(self) -> Plug:
        if not self.name:
            self.name = f"{_place_of(type(self).__module__)}:{type(self).__qualname__}"
        return self

    def culprit(self, error: BaseException) -> str:
        """Which of its methods raised an error, and by which line of its file: ` in start (my_env.py, line 62)`; empty
        where no code of a user's did."""
        modules = {each.__module__ for each in type(self).__mro__ if issubclass(each, Plug)}
        theirs = [module for module in modules if not module.startswith("webdojo.")]
        files = {vars(sys.modules[module]).get("__file__") for module in theirs}
        return _line_of(error, files)


@contextmanager
def one_line_errors(plug: Plug, noun: str) -> Iterator[None]:
    """Whatever the code of a plug raises in the block becomes a ConfigError that says by which of its lines."""
    try:
        yield
    except WebdojoError:
        raise
    except Exception as error:  # code of a plug: what it raises is not ours to foresee
        raise ConfigError(f"{noun} {plug.name!r} failed{plug.culprit(error)}: {one_line(error)}") from error


class ImportedLater(Mapping[str, T]):
    """Built-in plugs by name, each imported from its `package.module:Name` when it is asked for: for kinds of which a
    command takes one, and all together take long to import."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        self._paths = dict(paths)

    def __getitem__(self, name: str) -> T:
        module, _, attribute = self._paths[name].partition(":")
        found: T = getattr(importlib.import_module(module), attribute)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._paths  # what `Mapping` has would import it

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


class Registry(Collection[str], Generic[T]):
    """All plugs of one kind; as a collection, the names that need no path.

    Args:
        group: that of its entry points.
        noun: what one of them is.
        fits: whether an object that was found is one.
        must_be: what it has to be, for the error.
    """

    def __init__(
        self, group: str, noun: str, fits: Callable[[object], bool], must_be: str, built_in: Mapping[str, T]
    ) -> None:
        self.group, self.noun, self.built_in = group, noun, built_in
        self._fits, self._must_be = fits, must_be

    def __contains__(self, name: object) -> bool:
        return name in self.built_in or name in self._installed

    def __iter__(self) -> Iterator[str]:
        return iter([*self.built_in, *self._installed])

    def __len__(self) -> int:
        return len(self.built_in) + len(self._installed)

    def listed(self) -> dict[str, str]:
        """The names that need no path, the built-in ones first: `webdojo`, or the installed package that brings it."""
        packages = {name: point.dist.name if point.dist else "" for name, point in self._installed.items()}
        return dict.fromkeys(self.built_in, "webdojo") | packages

    def get(self, name: str, elsewhere: Mapping[str, str] = MappingProxyType({})) -> T:
        """The plug of that name; a ConfigError where there is none, it cannot be imported, or it is of another kind.

        `elsewhere` has names that other libraries have for some plugs, for the hint of that error.
        """
        if name in self.built_in:
            return self.built_in[name]
        if name not in self._installed and ":" not in name:
            near = [elsewhere[name]] if name in elsewhere else difflib.get_close_matches(name, [*self], n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(self)}"
            raise ConfigError(
                f"unknown {self.noun} {name!r}; {hint}; your own is named `./file.py:Name` or `package.module:Name`"
            )
        try:
            found = self._installed[name].load() if name in self._installed else _found(name, self.noun)
        except ConfigError:
            raise
        except Exception as error:  # whatever a user's module raises becomes one line
            raise ConfigError(
                f"{self.noun} {name!r} cannot be imported{_line_outside(error)}: {one_line(error)}"
            ) from error
        if not self._fits(found):
            kind = f"the class {found.__name__}" if isinstance(found, type) else f"a {type(found).__name__}"
            raise ConfigError(f"{self.noun} {name!r} is {kind}, and must be {self._must_be}")
        return found  # type: ignore[no-any-return]

    @contextmanager
    def running(self, name: str) -> Iterator[None]:
        """Whatever code of a user's own plug raises in the block becomes one ConfigError that names plug and line; code
        that is built in, and memory that runs out, raise as they do."""
        try:
            yield
        except WebdojoError:
            raise
        except Exception as error:  # code of a plug: what it raises is not ours to foresee
            if name in self.built_in or is_out_of_memory(error):
                raise
            raise ConfigError(f"{self.noun} {name!r} failed{_line_outside(error)}: {one_line(error)}") from error

    @cached_property
    def _installed(self) -> dict[str, EntryPoint]:
        return {point.name: point for point in entry_points(group=self.group) if point.name not in self.built_in}


def _line_of(error: BaseException, files: Collection[str | None]) -> str:
    """Which function and which line of these files raised an error; empty where none of theirs did."""
    raised = walk_tb(error.__traceback__)
    own = [(frame.f_code, line) for frame, line in raised if frame.f_code.co_filename in files]
    if not own:
        return ""
    function, place = own[0][0].co_name, f"({Path(own[-1][0].co_filename).name}, line {own[-1][1]})"
    return f" {place}" if function == "<module>" else f" in {function} {place}"


def _line_outside(error: BaseException) -> str:
    """The same of the first file of somebody else's code that the package called."""
    files = (frame.f_code.co_filename for frame, _ in walk_tb(error.__traceback__))
    ours = {PACKAGE, Path(importlib.__file__).parent}
    others = (each for each in files if not each.startswith("<") and ours.isdisjoint(Path(each).parents))
    return _line_of(error, [next(others, None)])


P = TypeVar("P", bound=Plug)


def derived_from(base: type) -> tuple[Callable[[object], bool], str]:
    """`fits` and `must_be` of a registry of classes."""
    must_be = f"a class derived from {base.__module__}.{base.__name__}"
    return lambda found: isinstance(found, type) and issubclass(found, base), must_be


def instance_of(record: type) -> tuple[Callable[[object], bool], str]:
    """`fits` and `must_be` of a registry of records."""
    return lambda found: isinstance(found, record), f"a {record.__module__}.{record.__name__}"


def plug_name(registry: Registry[Any], elsewhere: Mapping[str, str] = MappingProxyType({})) -> AfterValidator:
    """The annotation of a section's field that names a plug without options: `Annotated[str, plug_name(LOSSES)]`.

    `elsewhere` is as `Registry.get` has it.
    """

    def check(name: str) -> str:
        registry.get(name, elsewhere)
        return name

    return AfterValidator(check)


@dataclass(frozen=True)
class Slot:
    """What a section's field is that holds a plug."""

    registry: Registry[Any]
    default: str
    """The name of the plug where the field gives none."""

    def plug(self, given: object) -> Any:
        """The plug that a field of a recipe names; a ConfigError where there is none of that name."""
        return self.registry.get(self.name(given))

    def name(self, given: object) -> str:
        return str(given.get("name", self.default)) if isinstance(given, Mapping) else self.default


def plug_field(registry: Registry[type[P]], default: str) -> Any:
    """The annotations of a section's field that holds a plug: a mapping becomes the plug that its `name` names, and a
    name alone that plug with its defaults."""
    slot = Slot(registry, default)

    def resolve(given: Any) -> Any:
        given = {"name": given} if isinstance(given, str) else given
        if not isinstance(given, Mapping):
            return given
        return slot.plug(given).model_validate({**given, "name": slot.name(given)})

    return slot, BeforeValidator(resolve), SerializeAsAny()  # type: ignore[type-arg]


def slot_of(field: FieldInfo) -> Slot | None:
    """The slot that a section's field is, if it holds a plug."""
    return next((each for each in field.metadata if isinstance(each, Slot)), None)


def _found(path: str, noun: str) -> Any:
    """What `module:Name` or `file.py:Name` names."""
    where, _, attribute = path.rpartition(":")
    if where.endswith(".py"):
        if not Path(where).is_file():
            place = "" if Path(where).is_absolute() else f" in {Path.cwd()}, nor beside the recipe"
            raise ConfigError(f"{noun} {path!r}: there is no file {where!r}{place}: put it there, or name where it is")
        module = _from_file(Path(where).resolve())
    else:
        module = importlib.import_module(where)
    if not hasattr(module, attribute):
        names = [name for name in vars(module) if not name.startswith("_")]
        near = difflib.get_close_matches(attribute, names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ConfigError(f"{noun} {path!r}: {where!r} has no {attribute!r}{hint}")
    return getattr(module, attribute)


def _place_of(module: str) -> str:
    """How a name of a plug begins that finds it in a module."""
    if not module.startswith(_OF_FILE):
        return module
    file = Path(str(sys.modules[module].__file__))
    return f"./{file.relative_to(Path.cwd())}" if file.is_relative_to(Path.cwd()) else str(file)


def _from_file(file: Path) -> ModuleType:
    """The module of a file, the same one however often it is asked for; it may import from its own folder."""
    name = f"{_OF_FILE}{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None, f"{file} is no Python file"
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
