/**
 * Builds one answer from its events, however irregular the server is. Pure: the text filter and the
 * id generator are arguments.
 *
 * The answer is a state machine: `waiting` (no event yet), `open`, `complete` (the end arrived,
 * with reason and usage), `over` (later events are ignored). A block is `open`, then `ended`, once.
 * Rules:
 * 1. Text counts wherever it comes: in the start of a block, in a block that never began, in a
 *    block that has ended.
 * 2. The stored text is the text that was shown: in order of arrival, after the filter.
 * 3. A block is found by its index. Indexes need be neither dense nor in order. A new block may
 *    reuse one.
 * 4. A block without an end ends with the answer, or when another block takes its index.
 * 5. A call has an id of its own and a name. An identical repeated call is one call.
 * 6. A call with unreadable input remains a call. It says why, and is not run.
 */
import { z } from 'zod';
import { deeperThan } from '../../../src/shared/domain/deeper-than.ts';
import { isRecord, parseJson } from '../../../src/shared/domain/platform/json.ts';
import { LIMITS } from '../../../src/shared/protocol/limits.ts';
import type { MindBlock, Sealed, ToolSearchBlock, WebBlock } from './messages.ts';
import type { StopReason } from './requests.ts';
import { createJsonCount, type JsonCount, type TooMuchJson } from '../../platform/json-bounds.ts';
import { MIND_LIMITS } from './settings.ts';
import { createReportedUsage, type ReportedUsage } from './token-limits.ts';
import { isWebBlock, SEARCH } from './web.ts';
import type { WireBlock, WireDelta, WireEvent } from './wire.ts';

/** Updates for the listener: text as it is shown, and actions of the provider. */
export type AnswerUpdate =
  | { readonly kind: 'words'; readonly text: string }
  /** A whole thought. */
  | { readonly kind: 'thought'; readonly text: string }
  | { readonly kind: 'web'; readonly block: WebBlock };

export type AssemblyState = 'waiting' | 'open' | 'complete' | 'over';

export interface Assembly {
  take(event: Exclude<WireEvent, { kind: 'error' }>): readonly AnswerUpdate[];
  /**
   * No more events follow. `cut`: the answer broke off. Provider actions that had begun by then are
   * reported as begun.
   */
  close(cut: boolean): readonly AnswerUpdate[];
  state(): AssemblyState;
  /** Every block that began has ended. */
  isWhole(): boolean;
  /** Called after `close`. `cut`: of the blocks that were open, only text counts. */
  blocks(cut: boolean): readonly MindBlock[];
  stop(): StopReason;
  /**
   * The reason of an answer without content, where it is unknown. Null: there is content, or the
   * reason is known.
   */
  oddEnd(): string | null;
  /** The model called a tool, but the call itself did not arrive. */
  lostCall(): boolean;
  /** Totals so far: characters and bytes of text, thoughts and inputs, and blocks that began. */
  size(): { readonly characters: number; readonly bytes: number; readonly blocks: number };
  readonly usage: ReportedUsage;
}

/** Removes secrets from text that arrives in pieces. */
interface WordFilter {
  take(piece: string): string;
  /** Returns the text that was held back. */
  rest(): string;
}

export interface AssemblyDeps {
  /** Creates a filter for one continuous text. */
  readonly words: () => WordFilter;
  readonly newId: () => string;
}

/** A block of the answer while it is written. `ended`: its end arrived. */
interface Part {
  readonly block: WireBlock;
  ended: boolean;
  hasWords: boolean;
  thinking: string;
  signature: string;
  sealed: Sealed | null;
  /** For a call: the part of its input that has arrived. */
  json: string;
  /** Counts `json` as it arrives. */
  readonly count: JsonCount;
  /** Why the rest of `json` was refused. Null: all of it was accepted. */
  tooMuch: TooMuchJson | 'length' | null;
  /**
   * Whether `json` was complete at this length. Cached, because a server can trigger the check with
   * every event.
   */
  wholeJson: { readonly length: number; readonly is: boolean };
}

/** Text of one block, as it was shown. */
interface Words {
  readonly of: Part | null;
  text: string;
}

const INPUT_BOUNDS = { depth: LIMITS.jsonDepth, values: MIND_LIMITS.inputValues };

const partOf = (block: WireBlock): Part => ({
  block,
  ended: false,
  hasWords: false,
  thinking: block.kind === 'thinking' ? block.thinking : '',
  signature: block.kind === 'thinking' ? block.signature : '',
  sealed: null,
  json: '',
  count: createJsonCount(INPUT_BOUNDS),
  tooMuch: null,
  wholeJson: { length: 0, is: false },
});

function addInput(part: Part, piece: string): void {
  if (part.tooMuch !== null) return;
  const isLong = part.json.length + piece.length > MIND_LIMITS.inputCharacters;
  part.tooMuch = isLong ? 'length' : part.count.take(Buffer.from(piece));
  if (part.tooMuch === null) part.json += piece;
}

function hasWholeJson(part: Part): boolean {
  const { length } = part.json;
  if (part.wholeJson.length !== length) part.wholeJson = { length, is: parseJson(part.json) !== undefined };
  return part.wholeJson.is;
}

// A block that is sent back unchanged must have the fields that this module reads.

const pageSchema = z.looseObject({
  url: z.string(),
  content: z.looseObject({
    title: z.string().nullish(),
    source: z.union([
      z.looseObject({ type: z.literal('text'), data: z.string() }),
      z.looseObject({ type: z.literal('base64') }),
    ]),
  }),
});
const failureSchema = z.looseObject({ error_code: z.string() });
const ofServerSchema = z.union([
  z.looseObject({ type: z.literal('server_tool_use'), id: z.string().min(1), name: z.string() }),
  z.looseObject({
    type: z.literal('web_search_tool_result'),
    tool_use_id: z.string(),
    content: z.union([z.array(z.looseObject({ title: z.string(), url: z.string() })), failureSchema]),
  }),
  z.looseObject({
    type: z.literal('web_fetch_tool_result'),
    tool_use_id: z.string(),
    content: z.union([
      failureSchema.extend({ type: z.literal('web_fetch_tool_result_error') }),
      pageSchema.extend({ type: z.literal('web_fetch_result') }),
    ]),
  }),
  z.looseObject({
    type: z.literal('tool_search_tool_result'),
    tool_use_id: z.string(),
    content: z.union([
      z.looseObject({
        type: z.literal('tool_search_tool_search_result'),
        tool_references: z.array(z.looseObject({ tool_name: z.string() })),
      }),
      failureSchema.extend({ type: z.literal('tool_search_tool_result_error') }),
    ]),
  }),
]);
const isOfServer = (value: unknown): value is ToolSearchBlock | WebBlock =>
  ofServerSchema.safeParse(value).success && !deeperThan(value, LIMITS.jsonDepth);

/** Null: the block lacks those fields, or is of a kind that is not sent back. */
function ofServer({ block, json }: Part): Extract<MindBlock, { kind: 'web' | 'tool-search' }> | null {
  if (block.kind !== 'of-server') return null;
  const { type, input } = block.raw;
  const asked = parseJson(json);
  const raw =
    type === 'server_tool_use'
      ? { ...block.raw, input: isRecord(asked) ? asked : isRecord(input) ? input : {} }
      : block.raw;
  if (!isOfServer(raw)) return null;
  if (isWebBlock(raw)) return { kind: 'web', block: raw };
  return raw.type === 'tool_search_tool_result' || raw.name === SEARCH.name
    ? { kind: 'tool-search', block: raw }
    : null;
}

const notRun = (what: NonNullable<Part['tooMuch']>) => {
  const why = {
    depth: `lies more than ${LIMITS.jsonDepth} levels deep`,
    values: `holds more than ${MIND_LIMITS.inputValues} values`,
    length: `has more than ${MIND_LIMITS.inputCharacters} characters`,
  };
  return { input: {}, unreadable: `This call was not run: its input ${why[what]}.` };
};

/** The input of a call. Where it is unreadable, a sentence tells the model why. */
function inputOf({ block, json, tooMuch }: Part): { readonly input: unknown; readonly unreadable?: string } {
  if (tooMuch !== null) return notRun(tooMuch);
  const startInput = block.kind === 'call' ? block.input : undefined;
  const written = json.trim() === '' ? startInput : parseJson(json);
  // Some servers encode the JSON of the input as a string once more.
  const isText = typeof written === 'string' && written.trim() !== '';
  const within = isText ? createJsonCount(INPUT_BOUNDS).take(Buffer.from(written)) : null;
  if (within !== null) return notRun(within);
  const read = isText ? parseJson(written) : written;
  if (read === undefined && (json.trim() !== '' || startInput !== undefined))
    return {
      input: {},
      unreadable: `This call was not run: its input is not JSON. It began with: ${(json.trim() === '' ? String(written) : json).slice(0, MIND_LIMITS.upstreamDetail)}`,
    };
  const input = read === undefined || read === null || read === '' ? {} : read;
  return deeperThan(input, LIMITS.jsonDepth) ? notRun('depth') : { input };
}

/** The stop reason of an answer whose tool call was lost at the server. */
export const LOST_CALL = 'lost_call';
/** How servers call an ordinary end. */
const ORDINARY = /^(?:stop|eos|end|complete|done|tool|function|pause|refusal|content|max|length|model)/i;

const UNNAMED = 'unnamed';
const usable = (text: string | null, most: number) =>
  text !== null && text.trim() !== '' ? text.slice(0, most) : null;

/** Whether this start of a block repeats an open block. */
function isRepeat(before: Part, block: WireBlock): boolean {
  if (before.block.kind !== block.kind) return false;
  if (block.kind === 'text') return block.text === '' && !before.hasWords;
  if (block.kind !== 'call' || before.block.kind !== 'call') return false;
  if (block.id !== before.block.id || block.name !== before.block.name) return false;
  // Without an id it may be another call of the same tool. It is one if the earlier call is
  // complete.
  return block.id !== null || !hasWholeJson(before);
}

/** Gives every call an id of its own. A repeated call is one call. */
function callOf(part: Part, usedIds: Map<string, string>, newId: () => string): MindBlock | null {
  if (part.block.kind !== 'call') return null;
  const { input, unreadable } = inputOf(part);
  const name = usable(part.block.name, MIND_LIMITS.nameCharacters);
  const ownId = usable(part.block.id, MIND_LIMITS.idCharacters);
  const callKey = JSON.stringify([name, part.json.trim() === '' ? input : part.json]);
  if (ownId !== null && usedIds.get(ownId) === callKey) return null;
  let id = ownId ?? newId();
  for (let n = 2; usedIds.has(id); n++) id = `${ownId ?? newId()}-${n}`;
  usedIds.set(id, callKey);
  const why = name === null ? 'This call was not run: it does not say which tool it calls.' : unreadable;
  return {
    kind: 'tool-use',
    toolUseId: id,
    name: name ?? UNNAMED,
    input,
    ...(why === undefined ? {} : { unreadable: why }),
    ...(part.sealed ? { sealed: part.sealed } : {}),
  };
}

function blockOf(part: Part, usedIds: Map<string, string>, newId: () => string): MindBlock | null {
  switch (part.block.kind) {
    case 'thinking':
      return {
        kind: 'thinking',
        thinking: part.thinking,
        signature: part.signature,
        ...(part.sealed ? { sealed: part.sealed } : {}),
      };
    case 'redacted-thinking':
      return part.block.data === '' ? null : { kind: 'redacted-thinking', data: part.block.data };
    case 'call':
      return callOf(part, usedIds, newId);
    case 'of-server':
      return ofServer(part);
    case 'text':
    case 'unknown':
      return null;
    default:
      return part.block satisfies never;
  }
}

function begunWeb(part: Part): readonly AnswerUpdate[] {
  const done = ofServer(part);
  return done?.kind === 'web' && done.block.type === 'server_tool_use' ? [{ kind: 'web', block: done.block }] : [];
}

function stopOf(reason: string | null, parts: readonly Part[]): StopReason {
  if (reason === 'refusal' || reason === 'content_filter') return 'refusal';
  if (reason === 'max_tokens' || reason === 'model_context_window_exceeded' || reason === 'length') return 'length';
  // The provider searched for long. The model continues when it is asked again with the answer
  // so far.
  if (reason === 'pause_turn' && parts.some((part) => ofServer(part) !== null)) return 'tools';
  // Some local servers report `end_turn` although they call a tool.
  return parts.some(({ block }) => block.kind === 'call') ? 'tools' : 'end';
}

export function createAssembly({ words, newId }: AssemblyDeps): Assembly {
  const usage = createReportedUsage();
  /** The answer in order: text where it was shown, other blocks where they began. */
  const pieces: (Words | Part)[] = [];
  const parts: Part[] = [];
  /** The newest part of each index. */
  const byIndex = new Map<number, Part>();
  let state: AssemblyState = 'waiting';
  let newest: Part | null = null;
  let filter = words();
  let provisional: readonly WireBlock[] = [];
  let reason: string | null = null;
  let lostCall = false;
  let characters = 0;
  let bytes = 0;
  let blocks = 0;

  function begin(): void {
    if (state === 'waiting') state = 'open';
  }
  function count(text: string): void {
    characters += text.length;
    bytes += Buffer.byteLength(text);
  }

  function show(of: Part | null, text: string): readonly AnswerUpdate[] {
    if (text === '') return [];
    const last = pieces.at(-1);
    if (last && 'of' in last && last.of === of) last.text += text;
    else pieces.push({ of, text });
    return [{ kind: 'words', text }];
  }
  function say(of: Part, text: string): readonly AnswerUpdate[] {
    count(text);
    of.hasWords ||= text !== '';
    return show(of, filter.take(text));
  }

  /** Text that the filter held back belongs to the text before it. */
  function flush(): readonly AnswerUpdate[] {
    const rest = filter.rest();
    filter = words();
    const last = pieces.findLast((piece) => 'of' in piece);
    if (rest === '' || !last) return show(null, rest);
    last.text += rest;
    return [{ kind: 'words', text: rest }];
  }

  function end(part: Part): readonly AnswerUpdate[] {
    if (part.ended) return [];
    part.ended = true;
    if (part.block.kind === 'thinking' && part.thinking.trim() !== '')
      return [...flush(), { kind: 'thought', text: part.thinking.trim() }];
    const done = ofServer(part);
    return done?.kind === 'web' ? [...flush(), { kind: 'web', block: done.block }] : [];
  }

  function start(index: number | null, block: WireBlock): readonly AnswerUpdate[] {
    const at = index ?? Math.max(-1, ...byIndex.keys()) + 1;
    const before = index === null ? newest : byIndex.get(at);
    if (before && !before.ended && isRepeat(before, block)) return [];
    if (blocks === MIND_LIMITS.blocks) {
      lostCall ||= block.kind === 'call';
      return [];
    }
    blocks += 1;
    const ended = before ? end(before) : [];
    const part = partOf(block);
    parts.push(part);
    if (block.kind !== 'text') pieces.push(part);
    byIndex.set(at, part);
    newest = part;
    if (block.kind === 'thinking') count(block.thinking);
    return block.kind === 'text' ? [...ended, ...say(part, block.text)] : ended;
  }

  /** The part that a delta belongs to. Text or thoughts without a block start begin one. */
  function partFor(index: number | null, delta: WireDelta): Part | null {
    const part = index === null ? newest : byIndex.get(index);
    if (part) return part;
    if (delta.kind !== 'text' && delta.kind !== 'thinking') return null;
    start(
      index,
      delta.kind === 'text' ? { kind: 'text', text: '' } : { kind: 'thinking', thinking: '', signature: '' },
    );
    return newest;
  }

  function add(index: number | null, delta: WireDelta): readonly AnswerUpdate[] {
    const part = partFor(index, delta);
    switch (delta.kind) {
      case 'text':
        // Text in a block of another kind is still text.
        return part ? say(part, delta.text) : [];
      case 'thinking':
        count(delta.thinking);
        if (part?.block.kind === 'thinking') part.thinking += delta.thinking;
        return [];
      case 'signature':
        if (part?.block.kind === 'thinking') part.signature += delta.signature;
        return [];
      case 'sealed':
        if (part) part.sealed = delta.sealed;
        return [];
      case 'input':
        count(delta.json);
        if (part?.block.kind !== 'call' && part?.block.kind !== 'of-server') lostCall = true;
        // Data after the end of a complete input is ignored.
        else if (!part.ended || !hasWholeJson(part)) addInput(part, delta.json);
        return [];
      default:
        return delta satisfies never;
    }
  }

  function stopAt(index: number | null): readonly AnswerUpdate[] {
    const part = index === null ? newest : byIndex.get(index);
    return part ? end(part) : [];
  }

  function whole(content: readonly WireBlock[]): readonly AnswerUpdate[] {
    return content.flatMap((block) => [...start(null, block), ...stopAt(null)]);
  }

  function take(event: Parameters<Assembly['take']>[0]): readonly AnswerUpdate[] {
    if (state === 'over') return [];
    switch (event.kind) {
      case 'begin':
        // A repeated start in mid-answer adds nothing.
        if (state !== 'waiting') return [];
        begin();
        usage.add(event.usage);
        provisional = event.content;
        return [];
      case 'block':
        begin();
        return start(event.index, event.block);
      case 'delta':
        begin();
        return add(event.index, event.delta);
      case 'block-end':
        begin();
        return stopAt(event.index);
      case 'end':
        state = 'complete';
        reason = event.reason ?? reason;
        lostCall ||= reason === LOST_CALL;
        // Only the usage in the end event tells the output: the counts at the start precede any
        // text.
        usage.add(isRecord(event.usage) ? event.usage : {});
        return [];
      case 'whole': {
        begin();
        usage.add(isRecord(event.usage) ? event.usage : {});
        const told = whole(event.content);
        reason = event.reason;
        state = 'over';
        return told;
      }
      case 'over':
        if (state === 'waiting') begin();
        state = 'over';
        return [];
      case 'other':
        return [];
      default:
        return event satisfies never;
    }
  }

  return {
    usage,
    take,
    close(cut) {
      // A server may write the whole answer into its start event, and nothing after it.
      const told = parts.length === 0 ? whole(provisional) : [];
      const open = parts.filter(({ ended }) => !ended);
      const begun = cut ? open.flatMap(begunWeb) : open.flatMap(end);
      return [...told, ...flush(), ...begun];
    },
    state: () => state,
    isWhole: () => parts.every(({ ended }) => ended),
    blocks(cut) {
      const taken = new Map<string, string>();
      return pieces.flatMap((piece): MindBlock | readonly MindBlock[] => {
        if ('of' in piece) return { kind: 'text', text: piece.text };
        return cut && !piece.ended ? [] : (blockOf(piece, taken, newId) ?? []);
      });
    },
    stop: () => stopOf(reason, parts),
    oddEnd: () => (blocks > 0 || reason === null || ORDINARY.test(reason) ? null : reason),
    lostCall: () => lostCall,
    size: () => ({ characters, bytes, blocks }),
  };
}
