//! The ways in which each language binds a name, as its reference lists them, and where a question for the name must point. A row's
//! name is bound on the line of its file that has `<name>`; the sign is removed from the file. Parameters and the variables of
//! loops and handlers are not symbols: they are there to confuse.

use super::fixture::{BOTH, check};

/// What surrounds the names: texts in strings and comments that look like declarations, parameters, and uses.
const PYTHON: &str = r#"
"""Usage::

    def <!described>(x):
        pass

    quoted_name = 1
"""
from os import path as <os_path>

type <Pair>[T] = tuple[T, T]
(<left_side>, <right_side>) = 1, 2
[<head_item>, *<tail_items>] = [1, 2]
<first_alias> = <second_alias> = 3
<Callback>: "TypeAlias" = int
<Point> = namedtuple("Point", "x y")
<square> = lambda x: x * x
<halved>: Callable = lambda x: x / 2
if (<chunk_size> := len("a")) > 1:
    pass
try:
    import json as <json_module>
except ImportError:
    <json_fallback> = None


class <Shape>(
    Base,
):
    """Shape.

    described = 2
    """
    <unit_count>: int
    __slots__ = ("edge",)

    class <Meta>:
        <ordering> = ["a"]

    def __init__(self, <!width>=1):
        self.<edge_length>: int = 0
        self.<on_edge> = lambda edge: edge
        self._a, self.<edge_width> = 1, 2

    @staticmethod
    async def <measure_all>(
        described=None,
        quoted_name: int = 3,
    ):
        for quoted_name in []:
            pass
        global module_state
        <module_state> = 1


def <described>(x): return x
<quoted_name> = "real"


def with_defaults(a, described=3):
    pass
"#;

const RUST: &str = r##"
//! ```
//! struct Documented;
//! ```
/*
fn block_documented() {}
*/
const TEXT: &str = "
struct Documented;
fn block_documented() {}
";
extern crate alloc as <alloc_crate>;
use std::fmt as <text_format>;
pub(crate) struct <Documented>;
fn <block_documented>() {}
pub struct <Meters>(pub f64);
pub struct <Flat> { <flat_width>: u8, <flat_height>: u8 }
#[derive(Debug)] pub enum <Level> { <LowLevel>, <HighLevel>(u8) }
enum <Signal> {
    <Quit>,
    <Moved> { <delta_x>: i32, delta_y: i32 },
    #[default]
    <Idle> = 3,
}
pub union <Bits> { a: u8 }
pub trait <Codec> {
    type <Frame>;
    const <MAX_FRAME>: usize;
    fn <encode_frame>(&self);
}
impl Codec for Meters {
    type Frame = u8;
    const MAX_FRAME: usize = 1;
    fn encode_frame(&self) {}
}
pub static mut <TICKS>: u32 = 0;
pub type <Outcome><T> = Result<T, ()>;
macro_rules! <measure> { () => {} }
thread_local! {
    static <LOCAL_DEPTH>: u8 = 0;
}
lazy_static! {
    pub static ref <LAZY_TABLE>: u8 = 0;
}
extern "C" {
    fn <native_call>(x: i32);
}
#[inline] pub const unsafe extern "C" fn <raw_call>() {}
fn caller<const <!WIDTH_LIMIT>: usize>(documented: u8) {
    static <HOSTNAME>: u8 = 0;
    const <INNER_LIMIT>: u8 = 1;
    struct <InnerState>;
    let (<left_part>, right_part) = (1, 2);
    let <closure_value> = |x: u8| x;
    let <moved_closure> = move || {};
}
mod <inline_module> {
    pub fn <nested_call>() {}
}
"##;

const GO: &str = r#"
package main

import "os"

/*
func Documented() {}
*/
const text = `
func Documented() {}
type Quoted struct {
`

func <Documented>() {}

type (
	<Quoted> struct {
		<Width>, <Height> int
		Embedded
		<handler> func(w int) error `json:"h"`
		<Tags>    map[string][]string
	}
	<Alias> = Quoted
	<Number> interface {
		~int | ~float64
	}
)

type <List>[T any] struct {
	<items> []T
}

type <Reader> interface {
	<ReadAll>(p []byte) (n int, err error)
}

func (l *List[T]) <Push>(item T) {
	<pushedCount>, err := 1, error(nil)
	var <pendingCount> int
	<pushLater> := func() {
	}
	var <pushFirst> = func() {}
}

func <Map>[T, U any](in []T) []U { return nil }

var (
	<ErrClosed> = errors.New("closed")
	<one>, <two> = 1, 2
	<table>      = map[string]int{
		"a": 1,
	}
)

const (
	<FlagA> Flag = 1 << iota
	<FlagB>
	_
	<FlagC>, <FlagD> = 1, 2
)

type <HandlerFunc> func(int) error
var <onClose> = func(code int) error {
	return nil
}
var <onOpen> func(int) error = func(code int) error { return nil }
type <Chan> <-chan int
"#;

const SCRIPT: &str = r#"
/*
function documented() {}
*/
const text = `
function documented() {}
class Quoted {
`
import { other as <renamedImport> } from './other'
import * as <wholeModule> from './everything'
function documented_use() { return documented(Quoted) }
function <documented>() {}
export default class <Quoted> extends Base {
  static <instances> = 0
  #<secretCount> = 1
  <handleClick> = async (event) => {
    this.<lastEvent> = event
  }
  constructor(options) {
    this.<maxRetries> = options.maxRetries
  }
  get <area>() { return 1 }
  static async *<walk>() {}
  async <fetchAll>(url, { <!timeoutLimit> = 3 } = {}) {
    return 1
  }
}
class <Standard> {
  static #<sharedCount> = 1
  constructor (options) {
    this.pick = options.pick ?? this.#privateMethod
  }

  #<tightMethod>(origin) {
    return origin
  }

  #<privateMethod> (origin) {
    return origin
  }

  async #<asyncMethod> (origin) {
    return origin
  }

  static #<staticMethod> (origin) {
    return origin
  }

  static async #<staticAsync>(origin) {
    return origin
  }

  get #<getterName> () {
    return 1
  }

  set <setterName> (value) {
    this.value = value
  }

  async * <asyncItems> () {
    yield 1
  }

  async *#<privateItems> () {
    yield 1
  }

  static <spacedStatic> (origin) {
    return origin
  }

  <spacedMethod> (origin) {
    return origin
  }

  * <itemsOf> () {
    yield 1
  }

  *#<hiddenItems> () {
    yield 1
  }
}
var <firstVar> = 1,
    <secondVar> = 2,
    <thirdVar>
const { <alpha>, beta: <betaRenamed>, gamma: { <deepValue> } = {}, ...<restOfThem> } = load()
const [<headItem>, , <thirdItem> = 3] = list
const {
  <spreadValue>,
  delta: <deltaRenamed>,
} = load()
export const <arrow> = async <T>(x) => x
export function* <generate>() {}
function caller() {
  documented(Quoted)
  const request = {
    handle: function <handleNamed> () {},
  }
}
const <Anonymous> = class {
  <anonymousMethod>() {}
}
exports.<exported> = function () {}
module.exports.<alsoExported> = 1
Quoted.prototype.<addedLater> = function () {}
Quoted.prototype.<spelling> = function () {}
Quoted.prototype.<$spelling> = Quoted.prototype.spelling;
Object.defineProperty(exports, '<definedProperty>', { value: 1 })
const <options> = {
  <retries>: 3,
  <onError>(error) {},
  async <onRetry>() {},
  '<quoted-key>': 1,
  <nested>: { <innermost>: 1 },
  get <computedSize>() { return 1 },
}
const inline = { <inlineKey>: 1, <inlineOther>: 2 }
let <later>
for (const later of list) {}
function withDefault(a, later = 3) {}
export { later as <exportedName> }
const <rx$> = 1
const <$element> = 2
const rx = 3
export const <Schema> = 4
export const <$Schema> = 5
"#;

const TYPED: &str = r#"
export interface <Chain><T> {
  and<U>(other: U): Chain<T & U>;
  <linkAll><U extends T>(
    other: U,
  ): Chain<U>;
  link<U>(other: U): Chain<U>;
  <optionalField>?: string
  readonly <fixedField>: number
  <callbackField>: (x: number) => void
  get <accessorField>(): string
  new (x: number): Chain<T>
  [key: string]: unknown
}
const methods = {
  <link>(other) {
    return other
  },
}
export declare function <declared>(x: number): void
declare const <ambient>: string
export namespace <Outer> {
  export const <insideNamespace> = 1
}
declare module '<some-module>' {
  interface <Augmented> {}
}
export const enum <Direction> { <Up>, <Down> = 2 }
export type <Union> =
  | 'a'
  | 'b'
type <Mapped><K extends string> = { [P in K]: P }
abstract class <Service> {
  constructor(private readonly <http>: Http, public <baseUrl> = '') {}
  protected abstract <fetchOne>(id: string): Promise<void>
  @Input() <label>!: string
  @Output() readonly <changed> = new EventEmitter<void>()
  static readonly <LIMIT>: number = 3
  overloaded(x: string): void
  <overloaded>(x: any) {}
  private <cache>: Map<string, string> = new Map()
}
export default interface <Exported> {}
export async function <load><T>({ id, <!flagged> }: Props): Promise<T> {
  type <LocalAlias> = string
  return null
}
export const <typed>: Handler<string> = (x) => x
export const <useThing> = <T,>(x: T) => {
  return x
}
class Wide extends Base {
  run() {
    callTyped<
      A,
    >(this);
    listen(new Listener() {
    });
  }
  public <wideMethod><
    T,
    U extends Map<
      string,
      T
    > = Map<string, T>,
  >(x: T): T {
    return x
  }
  <wideBare><
    T extends (x: number) => void
  >(
    x: T,
  ) {
    return x
  }
  async <wideAsync><
    T,
  >(x: T): Promise<T> {
    return x
  }
  protected abstract <wideAbstract><
    T,
  >(x: T): void;
  #<widePrivate><
    T,
  >(x: T) {
    return x
  }
  <afterWide>: T;
  public <defaultSet>(ids = new Set<string>()) {
    return ids
  }
  <takesType><T>(type: new () => T): T {
    return new type()
  }
  public <returnsType>(): new () => T {
    return this.type
  }
  <functionParameter>(functionName: string) {
    return functionName
  }
  <quotedBracket>(close = ")") {
    return close
  }
}
interface WideShape {
  <wideSignature><
    T,
  >(x: T): void;
  <wideSpread><
    T,
  >(
    x: T,
  ): T
}
const wideMethods = {
  <wideKey><
    T,
  >(x: T) {
    return x
  },
}
function <callTyped><A>(x: unknown) {}
function <listen>(x: unknown) {}
"#;

/// Functions and classes that an expression names.
const NAMED_EXPRESSIONS: &str = r#"
defineGetter(req, 'sameAsText', function <sameAsText>(){
  return 1
})
emitter.on('argument', function <argumentFunction>(event) {
  return event
})
emitter.on("twoArguments", first, function <secondArgument> (event) {})
emitter.on('ready', async function <asyncArgument>() {})
emitter.on('items', function* <generatorArgument>() {})
emitter.on('items', function *<spacedGenerator>() {})
emitter.on('items', async function * <asyncGenerator>() {})
emitter.on('sameOnOwnLine',
  function <sameOnOwnLine>() {},
)
function withFunction(callback = function <defaultFunction>() {}) {}
const withClass = (base = class <DefaultClass> {}) => base
function make() {
  if (first) return function <returnedFunction>() {}
  if (second) return class <ReturnedClass> extends Base {}
  if (third) return new (class <InstancedClass> {})()
  if (fourth) return new class <BareInstanced> {}
  return class <LastReturned> {
    <methodInside>() {}
  }
}
const list = [function <firstListed>() {}, function <secondListed>() {}, class <ListedClass> {}]
const table = {
  key: function <valueFunction>() {},
  'quoted-name': function <quotedValue>() {},
  "sameAsKey": function <sameAsKey>() {},
  model: class <ValueClass> extends Base {},
}
const inline = { first: function <inlineValue>() {}, second: class <InlineClass> {} }
;(function <immediate>() {})()
!function <negated>() {}()
void function <voided>() {}()
+(async function <asyncImmediate>() {})()
module.exports = function <exportedFunction>() {}
module.exports.handler = function <exportedMember>() {}
exports = module.exports = class <ExportedClass> extends Base {
}
const assigned = function <assignedFunction>() {}
const Assigned = class <AssignedClass> extends Base {}
const chosen = first ? function <chosenFunction>() {} : function <otherFunction>() {}
const either = first || class <FallbackClass> {}
const arrow = (base) => class <ArrowClass> extends base {}
const curried = (base) => function <arrowFunction>() {}
register(class <ArgumentClass> {})
register('SameClass', class <SameClass> extends Base {})
customElements.define('my-element', class <ElementClass> extends HTMLElement {
  <connected>() {}
})
const promise = new Promise(function <executor>(resolve) {
  resolve()
})
const awaited = await (async function <awaitedFunction>() {})()
const text = 'function <!quotedFunction>() {}'
function <quotedFunction>() {}
// register(class Commented {})
class <Commented> {}
const style = css('class <!styledClass> {')
class <styledClass> {}
"#;

/// Words of a text are no code.
const PROSE_IN_MARKUP: &str = r#"
export const Help = () => (
  <p>
    Each button gets the class <!prefix>
    and a function <!debounced> (or two), like the class <!Widget> extends others.
    Use the function <!throttled>() for it.
  </p>
)
export const <prefix> = 'x-'
export const <debounced> = 1
export const <throttled> = 2
export class <Widget> {}
"#;

/// The same with types.
const NAMED_TYPED_EXPRESSIONS: &str = r#"
export const handler: Handler = wrap<string>(function <wrappedFunction>(this: void, x: string): string { return x })
export default register('typedName', function <typedName><T>(x: T) { return x })
export const model = define(class <GenericClass><T> implements Shape {
  constructor(private readonly value: T) {}
})
export const made = new (class <MadeClass> extends Base<string> {})()
export const cast = (function <castFunction>() {} as unknown) as Handler
export const abstracted = abstract(class <AbstractArgument> extends Base {})
function mixin<T extends Constructor>(base: T) {
  return class <MixedClass> extends base {}
}
"#;

const C: &str = r#"
/*
int documented(void) {
*/
static const char *text = "\
int documented(void) {";
#define <MAX_SIZE> 4
# define <SPACED_MACRO>(x) (x)
#  if A
#   define <DEEP_MACRO>
#  endif
typedef struct <tagged> {
  int <tagged_member>;
  union {
    int <as_int>;
    float <as_float>;
  };
  struct { int <inner_x>, <inner_y>; } <inner>;
  unsigned <bit> : 3;
  char <buffer>[MAX_SIZE], *<cursor>;
  int (*<on_event>)(int, void *);
  void* <slot>;  /* pointer to array of struct tagged */
} <tagged_t>, *<tagged_ptr>;
typedef int (*<callback_t>)(void *);
typedef void (<handler_t>)(void *);
typedef unsigned long <size_kind>;
enum <color> { <RED>, <GREEN> = 2,
  <BLUE> };
static struct tagged <table>[] = {
  { 1 },
};
extern int <extern_only>;
int <global_a> = 1, <global_b>;
const char *const <names>[] = { "a" };
int <documented>(void) {
  return 0;
}
static inline struct tagged* <wrapped_parameters>(struct tagged* head,
                                                 int slot,
                                                 int inner) {
  struct tagged* cursor;
  int buffer;
  return head;
}
static int
<type_above>(int a)
{
  return a;
}
int <old_style>(a, b)
  int a;
  char *b;
{
  return a;
}
int <prototype_only>(int slot,
                   int bit);
__attribute__((noinline)) void <attributed>(void) {}
tagged_t* <made_on_one_line>() { return new tagged_t; }
EXPORT_API(int) <exported_call>(void)
{
  return 0;
}
struct <forward>;
struct forward *make(void);
GtkWidget *thing_new (int a);
int user (int x)
{
  t = thing_new (a,
    b);
  switch (x) {
  case <!LABEL>:
    return lease_renew (x);
  }
}
GtkWidget *
<thing_new> (int a)
{
  return 0;
}
int <lease_renew> (int x) {
  return x;
}
struct flags {
  unsigned <bit_first>:1,
    <bit_next>:1, /* a comment, and more */
    <bit_spaced> : BITS,
    // between
    <bit_last>: 1;
  unsigned <bit_left>:1, <bit_right>:2;
  int <list_first>,
    *<list_next>,
    <list_last>[4];
};
static int <plain_first>,
  *<plain_next> = 0,
  <plain_last>[4];
"#;

const CPP: &str = r##"
#include "a.h"
const char* raw = R"(
class Documented {
)";
namespace <outer>::<inner_space> {
inline namespace <v1> {
template <typename T, int N = 3>
class <Documented> final : public Base<T> {
 public:
  using <value_type> = T;
  typedef T* <pointer>;
  enum class <Mode> : int { <kRead>, <kWrite> };
  explicit Documented(int size) : size_(size), <!documented_init>(1) {}
  virtual ~Documented() = default;
  static constexpr int <kLimit> = 3;
  mutable std::atomic<int> <counter_>{0};
  int <size_> = 0;
  absl::string_view <submatch>[N];
  T* <child_args>;
  virtual bool Visit(int* size,
                     T* child_args, int n_args);
  bool operator==(const Documented& other) const;
  auto trailing() const -> int;
  template <class U> void <templated>(U&& u);
  friend void <befriended>(Documented&);
  std::function<void(int)> <on_done_>;
  [[nodiscard]] bool <checked>() const noexcept { return true; }
};
template <typename T, int N>
auto Documented<T, N>::<trailing>() const -> int { return 1; }
}  // namespace v1
struct <Point3> { int <px>, <py>; };
inline constexpr std::size_t <kTableSize> = 4;
static const std::map<int, std::string> <kTable> = {
    {1, "a"},
};
template <typename T> concept <Hashable> = true;
template <typename T> using <Vec> = std::vector<T>;
auto <lambda> = [](int x) { return x; };
const auto <captured> = [&](int x) -> int { return x; };
void <defaulted>(int a, int <!late> = 3) {
  using <LocalContainer> = int;
  for (const auto& lambda : list) {}
}
union <Either> { int a; };
extern "C" void <c_linkage>(int);
}
class Forwarded;
struct ForwardedToo;
class [[nodiscard]] <Forwarded> final
    : public Base {
  int <forwarded_member>;
};
struct <ForwardedToo> {
};
class [[nodiscard]]
<AttributeAbove> : public Base {
};
class EXPORT_API <MacroBefore>
    : public Base {
};
class EXPORT_API <MacroOneLine> final : public Base {
  void <exported_method>() {}
};
struct alignas(64) <Aligned> {
  int <aligned_member>;
};
class __attribute__((visibility("default"))) <GnuAttributed> {
};
class DEPRECATED("use Aligned") <MacroCalled> : public Base {
};
struct <HasPointer> {
  explicit <!HasPointer>(int a) : pointer_(new int(a)) {
  }
  int* <pointer_>;
};
HasPointer::<reset_pointer>(int a) : pointer_(new int(a)) {
}
"##;

const JAVA: &str = r#"
package a;

/**
 * class Documented {
 */
public sealed interface <Documented> permits Circle {
  int <INTERFACE_LIMIT> = 3;
  String text = """
      class Quoted {
      """;
  default void <withBody>() {}
  double <areaOf>(int a);
}

record <Circle>(double <radius>, String name) implements Documented {
  Circle {
  }
}

@interface <Marker> {
  String <value>() default "";
}

enum <Planet> {
  <EARTH>(1) {
    @Override public Planet opposite() { return MARS; }
  },
  <MARS>(2) {
    @Override public Planet opposite() { return EARTH; }
  };

  private final int <mass>;
  Planet(int mass) { this.mass = mass; }
  public abstract Planet <opposite>();
}

final class <Quoted><T extends Comparable<T>>
    extends Base {
  private static final Map<String, List<T>> <INDEX> = new HashMap<>();
  protected int[] <codes>, <others>[];
  @Deprecated(since = "1") @Nullable volatile String <annotated>;
  static {
    int inStatic = 1;
  }
  Quoted(T <!first>) {}
  void <packagePrivate>() {}
  static final Function<String, Integer> <MEASURE> = text -> text.length();
  <T> T <generic>(
      Class<T> quoted,
      int codes)
      throws IOException {
    final int <localValue> = 1;
    Runnable <localTask> = () -> {};
    for (String codes : list) {}
    try (Reader others = open()) {} catch (IOException annotated) {}
    return null;
  }
  public static <K, V> Map<K, V> <mapOf>(K key, V value) { return null; }
  class <Inner> {
    int <deepField>;
  }
}
enum Kind {
  <ONE>(-1), <TWO>(R.X), <THREE>("(a, b"),
  <FOUR>(x -> x), <FIVE>(5);
}
@interface <Many> {}
@interface Result {
  Many <many>() default @Many;
}
class <Reader> {}
interface Source {
  Reader <reader>();
}
"#;

/// The file without its signs, and for each sign the name and its line.
fn signed(path: &str, text: &str) -> (String, Vec<(String, String)>) {
    let (mut plain, mut rows) = (String::new(), Vec::new());
    for (number, line) in text.lines().enumerate() {
        let mut rest = line;
        while let Some(open) = rest.find('<') {
            let name = rest[open + 1..].split('>').next().unwrap_or("");
            let is_sign = rest[open + 1 + name.len()..].starts_with('>')
                && name.trim_start_matches('!').len() > 2
                && name.trim_start_matches('!').chars().all(|c| c.is_alphanumeric() || "_$-".contains(c))
                && !UNSIGNED.contains(&name);
            if !is_sign {
                plain.push_str(&rest[..=open]);
                rest = &rest[open + 1..];
                continue;
            }
            plain.push_str(&rest[..open]);
            plain.push_str(name.trim_start_matches('!'));
            // What begins with `!` is a parameter: it is there to confuse.
            if !name.starts_with('!') {
                rows.push((name.to_owned(), format!("{path}:{}", number + 1)));
            }
            rest = &rest[open + name.len() + 2..];
        }
        plain.push_str(rest);
        plain.push('\n');
    }
    (plain, rows)
}

/// Type arguments that look like signs.
const UNSIGNED: [&str; 3] = ["void", "int", "string"];

#[track_caller]
fn check_bindings(path: &str, text: &str) {
    let (plain, rows) = signed(path, text);
    let files = [(path, plain.as_str()), ("README.md", "# Nothing\n")];
    let rows: Vec<(&str, &str)> = rows.iter().map(|(name, place)| (name.as_str(), place.as_str())).collect();
    check(&files, &BOTH, &rows);
}

#[test]
fn every_binding_of_python() {
    check_bindings("src/bindings.py", PYTHON);
}

#[test]
fn every_binding_of_rust() {
    check_bindings("src/bindings.rs", RUST);
}

#[test]
fn every_binding_of_go() {
    check_bindings("src/bindings.go", GO);
}

#[test]
fn every_binding_of_javascript() {
    check_bindings("src/bindings.js", SCRIPT);
}

#[test]
fn every_name_inside_of_an_expression() {
    check_bindings("src/expressions.js", NAMED_EXPRESSIONS);
    check_bindings("src/expressions.ts", NAMED_TYPED_EXPRESSIONS);
    check_bindings("src/Help.tsx", PROSE_IN_MARKUP);
}

#[test]
fn every_binding_of_typescript() {
    check_bindings("src/bindings.ts", TYPED);
}

#[test]
fn every_binding_of_c() {
    check_bindings("src/bindings.c", C);
}

#[test]
fn every_binding_of_cpp() {
    check_bindings("src/bindings.cc", CPP);
}

#[test]
fn every_binding_of_java() {
    check_bindings("src/Bindings.java", JAVA);
}
