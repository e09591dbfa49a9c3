/**
 * Questions that an MCP server asks the person during a call of one of its tools (MCP's
 * elicitation, form mode, revision 2025-11-25). A form is read as far as the protocol defines it,
 * within limits. A field that cannot be read is left out, unless the server requires it. The time
 * of the call stands still while the person is asked.
 */
import { z } from 'zod';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { sentence, shownText } from '../../../src/shared/domain/names.ts';
import { isRecord } from '../../../src/shared/domain/platform/json.ts';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import {
  misfitOf,
  TEXT_FORMATS,
  type FormField,
  type FormOption,
  type FormValue,
} from '../../../src/shared/domain/question-form.ts';
import type { ServerQuestion } from '../../../src/shared/protocol/approvals.ts';
import type { PersonAnswer } from '../../approvals/requests/contract.ts';
import type { KeyFilter } from '../../platform/key-filter.ts';
import type { McpLimits } from './settings.ts';

/** The caller of a tool, as far as its server's questions concern it. */
export interface Asks {
  readonly agentId: AgentId;
  /**
   * `signal` aborts when nobody waits for the answer any more. Its reason is a sentence that says
   * why.
   */
  person(question: Omit<ServerQuestion, 'server'>, signal: AbortSignal): Promise<PersonAnswer>;
}

/** Codes of JSON-RPC. */
const CODES = { 'bad-request': -32_600, 'unknown-method': -32_601, 'bad-form': -32_602 } as const;

/** The refusal of a server's question. The SDK sends its code and its message to the server. */
export class QuestionError extends Error {
  readonly code: number;
  constructor(kind: keyof typeof CODES, message: string) {
    super(message);
    this.code = CODES[kind];
  }
}

const refuse = (reason: string) => new QuestionError('bad-form', reason);

type Limits = Pick<
  McpLimits,
  'questionFields' | 'questionOptions' | 'questionChars' | 'questionNameChars' | 'questionSchemaChars'
>;

// What does not fit beside a field's type counts as left out. The server checks the answer anyway.
const optionalText = z.string().optional().catch(undefined);
const number = z.number().finite().optional().catch(undefined);
const count = z.number().int().nonnegative().optional().catch(undefined);
const said = { title: optionalText, description: optionalText };
const titled = z.array(z.object({ const: z.string(), title: z.string() })).min(1);
const names = z.array(z.string()).min(1);
const fieldSchemas = [
  z.object({ ...said, type: z.literal('string'), oneOf: titled, default: z.unknown().optional() }).transform(
    ({ oneOf, default: given, ...rest }) =>
      ({
        ...rest,
        kind: 'one',
        options: oneOf.map((each) => ({ value: each.const, title: each.title })),
        given,
      }) as const,
  ),
  z
    .object({
      ...said,
      type: z.literal('string'),
      enum: names,
      enumNames: z.array(z.string()).optional().catch(undefined),
      default: z.unknown().optional(),
    })
    .transform(({ enum: values, enumNames = [], default: given, ...rest }) => {
      const options = values.map((value, i) => ({ value, title: enumNames[i] ?? value }));
      return { ...rest, kind: 'one', options, given } as const;
    }),
  z
    .object({
      ...said,
      type: z.literal('string'),
      format: z.enum(TEXT_FORMATS).optional().catch(undefined),
      minLength: count,
      maxLength: count,
      default: z.unknown().optional(),
      oneOf: z.undefined().optional(),
      enum: z.undefined().optional(),
    })
    .transform(({ format = null, minLength: least = null, maxLength: most = null, default: given, ...rest }) => ({
      ...rest,
      ...({ kind: 'text', format, least, most, given } as const),
    })),
  z
    .object({
      ...said,
      type: z.enum(['number', 'integer']),
      minimum: number,
      maximum: number,
      default: z.unknown().optional(),
    })
    .transform(({ type, minimum: least = null, maximum: most = null, default: given, ...rest }) => ({
      ...rest,
      ...({ kind: 'number', isWhole: type === 'integer', least, most, given } as const),
    })),
  z
    .object({ ...said, type: z.literal('boolean'), default: z.unknown().optional() })
    .transform(({ default: given, ...rest }) => ({ ...rest, kind: 'yes-no', given }) as const),
  z
    .object({
      ...said,
      type: z.literal('array'),
      items: z.union([
        z.object({ anyOf: titled }),
        z.object({ oneOf: titled }).transform(({ oneOf: anyOf }) => ({ anyOf })),
        z
          .object({ type: z.literal('string'), enum: names })
          .transform((items) => ({ anyOf: items.enum.map((value) => ({ const: value, title: value })) })),
      ]),
      minItems: count,
      maxItems: count,
      default: z.unknown().optional(),
    })
    .transform(({ items, minItems: least = null, maxItems: most = null, default: given, ...rest }) => {
      const options = items.anyOf.map((each) => ({ value: each.const, title: each.title }));
      return { ...rest, kind: 'many', options, least, most, given } as const;
    }),
] as const;
const modeSchema = z.object({ mode: z.literal('form').optional() });
const paramsSchema = z.object({
  message: z.string(),
  requestedSchema: z.object({
    type: z.literal('object'),
    properties: z.record(z.string(), z.unknown()),
    required: z.array(z.string()).default([]),
    $defs: z.record(z.string(), z.unknown()).default({}).catch({}),
  }),
});

type Definitions = z.output<typeof paramsSchema>['requestedSchema']['$defs'];
const DEFINITION = '#/$defs/';
/** Definitions that lead to each other. */
const MOST_NESTED = 5;
const isNull = (schema: unknown) => isRecord(schema) && (schema['type'] === 'null' || schema['const'] === null);
const isOption = (schema: unknown): schema is Record<string, unknown> & { const: string } =>
  isRecord(schema) && typeof schema['const'] === 'string';

/**
 * A field's schema in the protocol's form. Libraries write an optional field as one that may be
 * null (`anyOf`, `oneOf`, a list of types, null among the values of `enum`), and put an enumeration
 * into `$defs`. Of several types the first is asked for.
 */
function plainSchema(
  given: unknown,
  definitions: Definitions,
  nested = 0,
): { readonly schema: unknown; readonly isNullable: boolean } {
  if (!isRecord(given) || nested > MOST_NESTED) return { schema: given, isNullable: false };
  const { $ref, ...rest } = given;
  const name = typeof $ref === 'string' && $ref.startsWith(DEFINITION) ? $ref.slice(DEFINITION.length) : '';
  const definition = Object.hasOwn(definitions, name) ? definitions[name] : undefined;
  let schema: Record<string, unknown> = isRecord(definition) ? { ...definition, ...rest } : rest;
  let isNullable = false;
  const withoutNull = (list: readonly unknown[], isNone: (each: unknown) => boolean) => {
    const left = list.filter((each) => !isNone(each));
    isNullable ||= left.length < list.length;
    return left;
  };
  for (const key of ['anyOf', 'oneOf', 'allOf']) {
    const { [key]: branches, ...others } = schema;
    if (!Array.isArray(branches)) continue;
    const left = withoutNull(branches, isNull);
    if (left.every(isOption)) {
      const oneOf = left.map((each) => ({ const: each.const, title: each.title ?? each.const }));
      schema = { type: 'string', ...others, oneOf };
      continue;
    }
    const inner = plainSchema(left[0], definitions, nested + 1);
    isNullable ||= inner.isNullable;
    schema = { ...(isRecord(inner.schema) ? inner.schema : {}), ...others };
  }
  if (Array.isArray(schema['type'])) {
    const [type] = withoutNull(schema['type'], (each) => each === 'null');
    schema = { ...schema, type };
  }
  if (isOption(schema) && schema['enum'] === undefined) schema = { ...schema, enum: [schema.const] };
  if (Array.isArray(schema['enum'])) {
    const values = withoutNull(schema['enum'], (each) => each === null);
    schema = {
      ...(values.every((each) => typeof each === 'string') ? { type: 'string' } : {}),
      ...schema,
      enum: values,
    };
  }
  if (isRecord(schema['items']))
    schema = { ...schema, items: plainSchema(schema['items'], definitions, nested + 1).schema };
  return { schema, isNullable };
}

/** Invisible characters in a field, except those that join letters and pictures. */
const UNSEEN = /(?!\u200c|\u200d|\n|\t)[\p{Cf}\p{Cc}\p{Zl}\p{Zp}]/u;

/**
 * Whether an answer may have a field of this name. The name must be fully visible, and must not be
 * a property that objects have of their own.
 */
const isFieldName = (name: string, most: number) =>
  name !== '' && name.length <= most && shownText(name) === name && name !== '__proto__';

/** Throws the server's error message where a field does not follow the protocol. */
function fieldOf(name: string, schema: unknown, isRequired: boolean, filter: KeyFilter, limits: Limits): FormField {
  const wrong = (reason: string) =>
    refuse(`The field ${JSON.stringify(name.slice(0, limits.questionNameChars))} ${reason}`);
  if (!isFieldName(name, limits.questionNameChars)) throw wrong('has a name that cannot be shown.');
  if (!isRecord(schema)) throw wrong('is described by no schema.');
  const read = fieldSchemas.map((each) => each.safeParse(schema)).find(({ success }) => success)?.data;
  if (!read) throw wrong('is none that this protocol knows: a text, a number, a boolean, or a choice.');
  const line = (text: string) => shownText(filter.words(text));
  const { given, title, description = '', ...rest } = read;
  const options: readonly FormOption[] = 'options' in read ? read.options : [];
  if (options.length > limits.questionOptions) throw wrong(`has more than ${limits.questionOptions} options.`);
  if (new Set(options.map(({ value }) => value)).size < options.length) throw wrong('has one option twice.');
  const field = {
    ...rest,
    ...{ name, isRequired, title: line(title ?? '') || name, description: line(description), preset: null },
    ...('options' in read
      ? { options: options.map((each) => ({ ...each, title: line(each.title) || each.value })) }
      : {}),
  } as FormField;
  const isSimple = ['string', 'number', 'boolean'].includes(typeof given) || Array.isArray(given);
  // A default is ignored if its own field refuses it, or if the person would not see all of it.
  const isSeen = typeof given !== 'string' || !UNSEEN.test(given);
  return isSimple && isSeen && misfitOf(field, given as FormValue) === null
    ? ({ ...field, preset: given } as FormField)
    : field;
}

/** Throws the server's error message where it asks for anything else, or for too much. */
function readQuestion(
  params: unknown,
  filter: KeyFilter,
  limits: Limits,
): Pick<ServerQuestion, 'message' | 'fields' | 'leftOut'> {
  if (!modeSchema.safeParse(params).success) throw refuse('Only questions in form mode are answered.');
  const read = paramsSchema.safeParse(params);
  if (!read.success) throw refuse('This is no question in form mode.');
  const { message, requestedSchema } = read.data;
  if (message.length > limits.questionChars)
    throw refuse(`The message has more than ${limits.questionChars} characters.`);
  if (JSON.stringify(requestedSchema).length > limits.questionSchemaChars)
    throw refuse(`The requested schema has more than ${limits.questionSchemaChars} characters.`);
  const questions = Object.entries(requestedSchema.properties);
  if (questions.length > limits.questionFields) throw refuse(`The form has more than ${limits.questionFields} fields.`);
  const { required, $defs: definitions } = requestedSchema;
  const lost = required.find((name) => !Object.hasOwn(requestedSchema.properties, name));
  if (lost !== undefined) throw refuse('A field is required that the form does not have.');
  const fields: FormField[] = [];
  const leftOut: string[] = [];
  let first: QuestionError | null = null;
  for (const [name, given] of questions) {
    const { schema, isNullable } = plainSchema(given, definitions);
    try {
      fields.push(fieldOf(name, schema, required.includes(name) && !isNullable, filter, limits));
    } catch (error) {
      if (!(error instanceof QuestionError) || required.includes(name)) throw error;
      first ??= error;
      leftOut.push(shownText(filter.words(name)).slice(0, limits.questionNameChars));
    }
  }
  if (first !== null && fields.length === 0) throw first;
  return { message: filter.words(message), fields, ...(leftOut.length > 0 ? { leftOut } : {}) };
}

/** The time-out of a call, without the time in which the person is asked. */
export interface CallTime {
  /** Aborts when the time is over. Its reason is an error that says so. */
  readonly signal: AbortSignal;
  /** The server reports progress. */
  progress(): void;
  /** The person is being asked. Returns a function that resumes the time. */
  pause(): () => void;
  end(): void;
}

/** `elapsed`: monotonic ms. */
export function createCallTime(
  { after }: Timers,
  elapsed: () => number,
  { callMs, callMostMs }: Pick<McpLimits, 'callMs' | 'callMostMs'>,
): CallTime {
  const over = new AbortController();
  const silent = () => over.abort(new Error(sentence`it timed out after ${callMs / 1_000} seconds`));
  const long = () => over.abort(new Error(sentence`it timed out after ${callMostMs / 1_000} seconds`));
  let msLeft = callMostMs;
  let runsSince = 0;
  let pauses = 0;
  let cancels: readonly (() => void)[] = [];
  function stop(): void {
    for (const cancel of cancels) cancel();
    cancels = [];
  }
  function run(): void {
    runsSince = elapsed();
    cancels = [after(callMs, silent), after(msLeft, long)];
  }
  function spend(): void {
    stop();
    msLeft = Math.max(0, msLeft - (elapsed() - runsSince));
  }
  run();
  return {
    signal: over.signal,
    progress() {
      if (pauses > 0 || cancels.length === 0) return;
      spend();
      run();
    },
    pause() {
      if (pauses++ === 0) spend();
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        if (--pauses === 0 && !over.signal.aborted) run();
      };
    },
    end() {
      // A pause that ends later restarts nothing.
      pauses = Number.POSITIVE_INFINITY;
      stop();
    },
  };
}

/** A running call, during which its server may ask. */
interface UnderWay {
  readonly asks: Asks;
  readonly time: CallTime;
  /** How many more questions it may cause. */
  left: number;
  readonly ended: AbortController;
}

/** The questions of one connection. */
export interface Questions {
  /**
   * A call begins. Returns a function that ends it and withdraws the questions that belong to it
   * alone.
   */
  begin(asks: Asks, time: CallTime): () => void;
  /**
   * `withdrawn` aborts when the server needs no answer any more, or its connection has ended.
   * `sign`: tells the server that the question still waits. Left out: the server does not want to
   * know.
   */
  ask(params: unknown, withdrawn: AbortSignal, sign?: () => void): Promise<PersonAnswer>;
}

const UNNEEDED = sentence`This question no longer needs an answer.`;

export function createQuestions({
  filter,
  now,
  timers,
  limits,
}: {
  readonly filter: KeyFilter;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly timers: Timers;
  readonly limits: Limits & Pick<McpLimits, 'questionMs' | 'questionSignMs' | 'questionsPerCall'>;
}): Questions {
  const underWay = new Set<UnderWay>();
  return {
    begin(asks, time) {
      const one: UnderWay = { asks, time, left: limits.questionsPerCall, ended: new AbortController() };
      underWay.add(one);
      return () => {
        underWay.delete(one);
        time.end();
        one.ended.abort();
      };
    },
    async ask(params, withdrawn, sign) {
      if (underWay.size === 0)
        throw new QuestionError('bad-request', 'The person is asked only while a tool of this server is called.');
      // The server does not say which call it asks for. It is taken to be the newest call that may
      // still ask.
      const calls = [...underWay];
      const openCall = calls.findLast(({ left }) => left > 0);
      if (!openCall)
        throw new QuestionError(
          'bad-request',
          `One call may ask the person ${limits.questionsPerCall} times, and this one has.`,
        );
      openCall.left -= 1;
      const question = readQuestion(params, filter, limits);
      const over = new AbortController();
      const cancelLate = timers.after(limits.questionMs, () =>
        over.abort(sentence`Nobody answered within ${limits.questionMs / 60_000} minutes.`),
      );
      let cancelSign: () => void = () => undefined;
      const signLater = () => {
        cancelSign = timers.after(limits.questionSignMs, () => {
          sign?.();
          signLater();
        });
      };
      if (sign) signLater();
      const onWithdrawn = () => over.abort(UNNEEDED);
      const callOver = () => {
        // The question waits as long as any call runs that it may belong to.
        if (calls.every((each) => each.ended.signal.aborted)) over.abort(UNNEEDED);
      };
      if (withdrawn.aborted) onWithdrawn();
      withdrawn.addEventListener('abort', onWithdrawn, { once: true });
      for (const { ended } of calls) ended.signal.addEventListener('abort', callOver, { once: true });
      const goOn = calls.map(({ time }) => time.pause());
      const others = [...new Set(calls.map(({ asks }) => asks.agentId))].filter((id) => id !== openCall.asks.agentId);
      try {
        return await openCall.asks.person({ ...question, others, until: now() + limits.questionMs }, over.signal);
      } finally {
        cancelLate();
        cancelSign();
        withdrawn.removeEventListener('abort', onWithdrawn);
        for (const { ended } of calls) ended.signal.removeEventListener('abort', callOver);
        for (const go of goOn) go();
      }
    },
  };
}
