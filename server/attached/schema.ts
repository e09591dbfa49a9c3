/**
 * Whether something has the shape of a JSON Schema (draft 2020-12, as its meta-schema says it): a model’s server refuses a whole
 * request for one that has not, and so one tool would keep its agent from saying anything. Pure.
 */
import { isRecord } from '../../src/domain/platform/is-record.ts';

const TYPES: readonly unknown[] = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];
const setOf = (names: string): ReadonlySet<string> => new Set(names.split(' '));
/** By what stands behind the word. */
const ONE = setOf(
  'additionalProperties propertyNames contains not if then else items unevaluatedItems unevaluatedProperties contentSchema',
);
const LISTS = setOf('allOf anyOf oneOf prefixItems');
const NAMED = setOf('$defs definitions properties patternProperties dependentSchemas');
const TEXTS = setOf('$anchor $comment $dynamicRef $id $ref $schema contentEncoding description format pattern title');
const COUNTS = setOf('maxContains maxItems maxLength maxProperties minContains minItems minLength minProperties');
const NUMBERS = setOf('exclusiveMaximum exclusiveMinimum maximum minimum multipleOf');
const FLAGS = setOf('deprecated readOnly uniqueItems writeOnly');

const isText = (value: unknown) => typeof value === 'string';
const areTexts = (value: unknown) =>
  Array.isArray(value) && value.every(isText) && new Set<unknown>(value).size === value.length;
const areTypes = (value: unknown) =>
  TYPES.includes(value) ||
  (areTexts(value) && (value as unknown[]).length > 0 && (value as unknown[]).every((each) => TYPES.includes(each)));

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
  if (word === 'enum' || word === 'examples') return Array.isArray(value);
  return true;
}

/** One that is deep is walked down to its end: whoever asks bounds it before. */
export const isSchema = (value: unknown): boolean =>
  typeof value === 'boolean' || (isRecord(value) && Object.entries(value).every(([word, each]) => fits(word, each)));
