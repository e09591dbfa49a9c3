/**
 * Converts a tool's input schema to a form that every model server accepts. A model server refuses
 * a whole request because of one unsupported schema, so one tool could silence its agent. Where a
 * conversion exists, it is applied: names are mapped there and back, and choices at the top level
 * become one object. Any other tool is off, with a reason. Pure.
 */
import { isRecord, isSameJson } from '../../../src/shared/domain/platform/json.ts';
import { createHash } from 'node:crypto';
import { sentence, shownText } from '../../../src/shared/domain/names.ts';

export type Schema = Readonly<Record<string, unknown>>;
type Fields = Record<string, unknown>;

export const short = (text: string, chars: number) => createHash('sha256').update(text).digest('hex').slice(0, chars);

/* Whether a value has the shape of a JSON Schema (draft 2020-12, according to its meta-schema). */

const TYPES: readonly unknown[] = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];
const setOf = (names: string): ReadonlySet<string> => new Set(names.split(' '));
/** Keywords by the kind of their value. */
const ONE = setOf(
  'additionalProperties propertyNames contains not if then else items unevaluatedItems unevaluatedProperties contentSchema',
);
const LISTS = setOf('allOf anyOf oneOf prefixItems');
const NAMED = setOf('$defs properties patternProperties dependentSchemas');
const TEXTS = setOf('$ref contentEncoding description format pattern title');
const COUNTS = setOf('maxContains maxItems maxLength maxProperties minContains minItems minLength minProperties');
const NUMBERS = setOf('exclusiveMaximum exclusiveMinimum maximum minimum multipleOf');
const FLAGS = setOf('deprecated readOnly uniqueItems writeOnly');

const isText = (value: unknown) => typeof value === 'string';
const areTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(isText) && new Set<unknown>(value).size === value.length;
const areTypes = (value: unknown) =>
  TYPES.includes(value) || (areTexts(value) && value.length > 0 && value.every((each) => TYPES.includes(each)));

function fits(word: string, value: unknown): boolean {
  if (ONE.has(word)) return isSchema(value);
  if (LISTS.has(word)) return Array.isArray(value) && value.length > 0 && value.every(isSchema);
  if (NAMED.has(word)) return isRecord(value) && Object.values(value).every(isSchema);
  if (TEXTS.has(word)) return isText(value);
  if (COUNTS.has(word)) return Number.isInteger(value) && Number(value) >= 0;
  if (NUMBERS.has(word)) return typeof value === 'number';
  if (FLAGS.has(word)) return typeof value === 'boolean';
  if (word === 'type') return areTypes(value);
  if (word === 'required') return areTexts(value);
  if (word === 'dependentRequired') return isRecord(value) && Object.values(value).every(areTexts);
  if (word === 'enum' || word === 'examples') return Array.isArray(value);
  return true;
}

/** Walks the whole schema. The caller bounds its depth first. */
const isSchema = (value: unknown): boolean =>
  typeof value === 'boolean' || (isRecord(value) && Object.entries(value).every(([word, each]) => fits(word, each)));

/* Maps property names that the Messages API refuses to names that it accepts. */

/** Names that the Messages API accepts for a property. */
const MIND_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
const HASH_CHARS = 8;
const NAME_CHARS = 64;

function mindPropertyOf(name: string): string {
  if (MIND_NAME.test(name)) return name;
  const plain = name.replace(/[^a-zA-Z0-9_.-]/g, '_').slice(0, NAME_CHARS - HASH_CHARS - 1);
  return `${plain}_${short(name, HASH_CHARS)}`;
}

/*
 * Keywords that are left out: they name locations, or say how to read a schema. References are
 * resolved here instead.
 */
const LEFT_OUT = setOf(
  '$anchor $comment $dynamicAnchor $dynamicRef $id $recursiveAnchor $recursiveRef $schema $vocabulary dependencies id',
);
/** In these keywords null is a value. */
const MAY_BE_NULL = setOf('const default enum examples');
/** No model server accepts a choice or a condition at the top level. */
const NOT_AT_TOP = setOf('$ref allOf anyOf const dependentSchemas else enum if not oneOf then');

/**
 * Patterns that every model server can read: anchored at both ends, without lookaround or named
 * classes.
 */
const isPlainPattern = (pattern: string) =>
  /^\^[^]*\$$/.test(pattern) && !/\(\?|\\[pPbBkux\d]|\|/.test(pattern) && isPattern(pattern);
function isPattern(pattern: string): boolean {
  try {
    new RegExp(pattern, 'u');
    return true;
  } catch {
    return false;
  }
}

const described = (words: readonly unknown[]) => words.filter((each) => isText(each) && each !== '').join(' ');

class TooManyError extends Error {}

export interface MindSchemaLimits {
  /** Most parts of a schema after its references are resolved. */
  readonly schemaParts: number;
}

export type MindSchema =
  | {
      readonly ok: true;
      readonly schema: Schema;
      /** Maps a model's input back to the server's names. */
      back(input: Schema): Record<string, unknown>;
    }
  | { readonly ok: false; readonly reason: string };

/** The reason of an unusable schema is a sentence. A deep schema is walked to its end. */
export function mindSchemaOf(given: unknown, { schemaParts }: MindSchemaLimits): MindSchema {
  const root = given === undefined || given === null || given === true ? {} : given;
  if (!isRecord(root)) return { ok: false, reason: sentence`Its input schema is not valid JSON Schema.` };
  /** The server's name of each renamed property, by the model's name. */
  const renamed = new Map<string, string>();
  const plain = new Set<string>();
  const defs = new Map<string, Fields>();
  const inside: string[] = [];
  let parts = 0;

  function count(): void {
    parts += 1;
    if (parts > schemaParts) throw new TooManyError();
  }
  function nameOf(name: string): string {
    const own = mindPropertyOf(name);
    if (own === name) plain.add(name);
    else renamed.set(own, name);
    return own;
  }
  const at = (pointer: string) => valueAt(root, pointer);
  /**
   * Reads the target of a reference. Null: the target is missing, or the reference is inside its
   * own target.
   */
  function followed<Value>(pointer: unknown, read: (target: unknown) => Value): Value | null {
    const target = isText(pointer) ? at(pointer as string) : undefined;
    if (target === undefined || inside.includes(pointer as string)) return null;
    inside.push(pointer as string);
    try {
      return read(target);
    } finally {
      inside.pop();
    }
  }
  /**
   * A reference to a definition at the top level stays one. Any other is replaced by its target.
   */
  function referred(pointer: unknown): Fields {
    const [, name] = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(String(pointer)) ?? [];
    if (name === undefined || at(String(pointer)) === undefined) {
      const found = followed(pointer, walk);
      return isRecord(found) ? { ...found } : {};
    }
    const own = mindPropertyOf(decoded(name));
    if (!defs.has(own)) {
      const made: Fields = {};
      defs.set(own, made);
      const target = walk(at(String(pointer)));
      if (isRecord(target)) Object.assign(made, target);
    }
    return { $ref: `#/$defs/${own}` };
  }
  const named = (value: unknown, read: (each: unknown) => unknown, name: (key: string) => string): unknown =>
    isRecord(value) ? Object.fromEntries(Object.entries(value).map(([key, each]) => [name(key), read(each)])) : value;

  /** The description of a renamed property tells the server's name for it. */
  function property(name: string, value: unknown): unknown {
    const read = walk(value);
    if (nameOf(name) === name) return read;
    const fields = isRecord(read) ? read : {};
    return {
      ...fields,
      description: described([`The server calls it ${JSON.stringify(shownText(name))}.`, fields['description']]),
    };
  }

  function walk(node: unknown): unknown {
    count();
    if (node === null) return {};
    if (!isRecord(node)) return node;
    const words = Object.entries(node).filter(
      ([word, value]) => !LEFT_OUT.has(word) && (value !== null || MAY_BE_NULL.has(word)),
    );
    const out = new Map<string, unknown>();
    const notes: string[] = [];
    for (const [word, value] of words) {
      if (word === '$ref') for (const [key, each] of Object.entries(referred(value))) out.set(key, each);
      else if (word === '$defs' || word === 'definitions') continue;
      else if (word === 'properties')
        out.set(
          word,
          isRecord(value)
            ? Object.fromEntries(Object.entries(value).map(([name, each]) => [nameOf(name), property(name, each)]))
            : value,
        );
      else if (word === 'dependentSchemas') out.set(word, named(value, walk, nameOf));
      else if (word === 'dependentRequired') out.set(word, named(value, requiredOf, nameOf));
      else if (word === 'required') out.set(word, requiredOf(value));
      else if (word === 'patternProperties') {
        const readable = isRecord(value) ? Object.entries(value).filter(([pattern]) => isPattern(pattern)) : null;
        out.set(word, readable ? Object.fromEntries(readable.map(([key, each]) => [key, walk(each)])) : value);
      } else if (word === 'pattern' && isText(value) && !isPlainPattern(value as string))
        notes.push(`It has to match the pattern ${JSON.stringify(value)}.`);
      // The form until draft 2019-09.
      else if (word === 'items' && Array.isArray(value)) {
        if (value.length > 0) out.set('prefixItems', value.map(walk));
      } else if ((word === 'exclusiveMinimum' || word === 'exclusiveMaximum') && typeof value === 'boolean') continue;
      else if (ONE.has(word)) out.set(word, walk(value));
      else if (LISTS.has(word)) out.set(word, Array.isArray(value) ? value.map(walk) : value);
      else out.set(word, value);
    }
    if (out.get('type') === 'array' && !out.has('items') && !out.has('prefixItems')) out.set('items', {});
    if (notes.length > 0) out.set('description', described([out.get('description'), ...notes]));
    return Object.fromEntries(out);
  }
  const requiredOf = (value: unknown): unknown =>
    Array.isArray(value) ? value.map((name: unknown) => (isText(name) ? nameOf(name as string) : name)) : value;

  interface Top {
    readonly properties: Map<string, unknown>;
    readonly required: Set<unknown>;
    readonly isObject: boolean;
    /** The keywords of this schema beside the merged ones. */
    readonly rest: Schema;
    readonly notes: readonly string[];
  }
  /**
   * Merges all choices at the top level into one object. It has every property that any choice
   * names. A property is required only where every choice requires it.
   */
  function top(node: unknown): Top {
    count();
    const own = isRecord(node) ? node : {};
    const words = new Map(Object.entries(own));
    const properties = new Map(isRecord(own['properties']) ? Object.entries(own['properties']) : []);
    const required = new Set<unknown>(Array.isArray(own['required']) ? own['required'] : []);
    const types = [own['type']].flat();
    let isObject = types.includes('object') || properties.size > 0 || required.size > 0;
    const notes: string[] = [];
    const add = (others: ReadonlyMap<string, unknown>, how: 'allOf' | 'anyOf') => {
      for (const [name, value] of others) {
        const before = properties.get(name);
        properties.set(name, before === undefined || isSameJson(before, value) ? value : { [how]: [before, value] });
      }
    };
    const whole = [
      ...(words.has('$ref') ? [followed(words.get('$ref'), top)] : []),
      ...listOf(words.get('allOf')).map(top),
    ];
    for (const each of whole) {
      if (!each) continue;
      isObject ||= each.isObject;
      add(each.properties, 'allOf');
      for (const name of each.required) required.add(name);
      notes.push(...each.notes);
    }
    for (const word of ['anyOf', 'oneOf']) {
      const ways = listOf(words.get(word)).map(top);
      const objects = ways.filter((way) => way.isObject);
      isObject ||= objects.length > 0;
      for (const way of objects) add(way.properties, 'anyOf');
      const [first] = ways;
      for (const name of first?.required ?? []) if (ways.every((way) => way.required.has(name))) required.add(name);
      const said = objects.map(
        (way) => [...way.required].map((name) => JSON.stringify(name)).join(', ') || 'none of them',
      );
      if (said.length > 1) notes.push(`What has to be there, in one of these ways: ${said.join('; or ')}.`);
    }
    for (const word of ['then', 'else']) if (isRecord(words.get(word))) add(top(words.get(word)).properties, 'anyOf');
    const rest = Object.fromEntries([...words].filter(([word]) => !NOT_AT_TOP.has(word)));
    return { properties, required, isObject, rest, notes };
  }

  try {
    const { properties, required, isObject, rest, notes } = top(root);
    const types = [root['type']].flat().filter((type) => type !== null && type !== undefined);
    const isOther = types.length > 0 && !types.includes('object');
    const isChoice = listOf(root['anyOf']).length > 0 || listOf(root['oneOf']).length > 0;
    if (isOther || (!isObject && isChoice))
      return { ok: false, reason: sentence`Its input schema is not valid JSON Schema.` };
    const isWrong = (word: string, value: unknown) => word in rest && rest[word] !== null && !value;
    const merged = {
      ...rest,
      type: 'object',
      // Invalid values are refused below.
      properties: isWrong('properties', isRecord(rest['properties']))
        ? rest['properties']
        : Object.fromEntries(properties),
      ...(isWrong('required', areTexts(rest['required']))
        ? { required: rest['required'] }
        : { required: required.size > 0 ? [...required] : null }),
      ...(notes.length > 0 ? { description: described([rest['description'], ...notes]) } : {}),
    };
    const walked = walk(merged) as Fields;
    // A definition without a reference is left out, but it must be valid.
    for (const word of ['$defs', 'definitions'])
      if (root[word] !== undefined && root[word] !== null && !isRecord(root[word]))
        return { ok: false, reason: sentence`Its input schema is not valid JSON Schema.` };
    const schema = defs.size > 0 ? { ...walked, $defs: Object.fromEntries(defs) } : walked;
    if (!isSchema(schema) || [...renamed.keys()].some((name) => plain.has(name)))
      return { ok: false, reason: sentence`Its input schema is not valid JSON Schema.` };
    return { ok: true, schema, back: (input) => renamedBack(input, renamed) as Record<string, unknown> };
  } catch (error) {
    if (!(error instanceof TooManyError)) throw error;
    return { ok: false, reason: sentence`Its input schema is too large.` };
  }
}

/** The value at a pointer within this schema. Undefined: there is none. */
function valueAt(root: unknown, pointer: string): unknown {
  if (!pointer.startsWith('#/')) return pointer === '#' ? root : undefined;
  return pointer
    .slice(2)
    .split('/')
    .reduce<unknown>((value, step) => {
      const name = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
      return (value as Schema)[name];
    }, root);
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A pointer may have percent-encoded names. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function renamedBack(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (names.size === 0) return value;
  if (Array.isArray(value)) return value.map((each) => renamedBack(each, names));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [names.get(name) ?? name, renamedBack(each, names)]),
  );
}
