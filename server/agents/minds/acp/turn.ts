/**
 * Converts what an ACP agent reports during one turn to Roost's own events: text, thoughts, plans,
 * tool calls and diffs.
 */
import type { ContentBlock, McpServer, SessionUpdate, ToolCallContent, ToolCallUpdate } from '@agentclientprotocol/sdk';
import { sentence } from '../../../../src/shared/domain/names.ts';
import type { Timers } from '../../../../src/shared/domain/platform/timers.ts';
import { THOUGHT } from '../../../../src/shared/domain/talk.ts';
import { MIND_PREFIX } from '../../../../src/shared/domain/toolsets.ts';
import { beginningOfText, cutMiddle } from '../../../../src/shared/domain/cut-middle.ts';
import type { ActionEnd, RecordAction } from '../actions.ts';
import type { MindBlock, MindListener, MindMessage, MindRequest } from '../index.ts';
import { mapStrings } from '../../../platform/json-bounds.ts';
import { type Connection, ProgramError } from './connection.ts';
import type { ProgramLimits } from './settings.ts';

// Watches for an ACP agent that is silent while it works.

const MS_PER_MINUTE = 60_000;

export interface Silence {
  /** The ACP agent reported something. */
  sign(): void;
  /**
   * The ACP agent waits for an answer. Its silence does not count until the returned function is
   * called.
   */
  hold(): () => void;
  /**
   * Starts a watch. `onSilent` is called once, with the error, after `silentMs` without a sign.
   * Returns a function that ends the watch.
   */
  watch(onSilent: (error: ProgramError) => void): () => void;
}

/** `name`: of the ACP agent. Only one watch at a time. */
export function createSilence(name: string, silentMs: number, timers: Pick<Timers, 'after'>): Silence {
  let holds = 0;
  let onSilent: ((error: ProgramError) => void) | null = null;
  let cancel: () => void = () => undefined;
  function sign(): void {
    cancel();
    const tell = onSilent;
    if (tell === null || holds > 0) return;
    const minutes = silentMs / MS_PER_MINUTE;
    cancel = timers.after(silentMs, () =>
      tell(new ProgramError('hangs', sentence`${name} said nothing for ${minutes} minutes, and was ended.`)),
    );
  }
  return {
    sign,
    hold() {
      holds += 1;
      sign();
      return () => {
        holds -= 1;
        sign();
      };
    },
    watch(tell) {
      onSilent = tell;
      sign();
      return () => {
        onSilent = null;
        cancel();
      };
    },
  };
}

/** The name of Roost's own MCP server for the ACP agent, which is part of its tools' names. */
const OWN_SERVER = 'roost';

/** A tool call, as far as it has been reported. */
interface Call {
  title: string;
  kind: string;
  name: string | null;
  input: unknown;
  content: readonly ToolCallContent[];
  /** Set once the call is in the log. */
  done: ((result: string, isError: boolean) => void) | null;
  /** Set once the call is recorded as an action without a question. */
  noted: ReturnType<RecordAction> | null;
  /** Ends the records of its allowed questions. There may be several. */
  begun: ((end: ActionEnd) => void)[];
  ended: boolean;
}

export interface Turn {
  take(update: SessionUpdate): void;
  /** What is known of a call that asks for permission, together with the question's own content. */
  asked(call: ToolCallUpdate): {
    readonly tool: string;
    readonly input: unknown;
    readonly own: boolean;
    /** The call was allowed. `over` receives its end. */
    readonly begun: (over: (end: ActionEnd) => void) => void;
  };
  /** Nothing has been shown or paid for yet. */
  isSilent(): boolean;
  /** The whole text. */
  text(): string;
  /** US dollars reported for the session so far. Null: none reported. */
  dollars(): number | null;
  /** Ends everything that is open. `stopped`: why it did not end by itself. Null: it did. */
  end(stopped: string | null): void;
}

const lines = (text: string, mark: string) =>
  text
    .split('\n')
    .map((line) => `${mark} ${line}`)
    .join('\n');

function partText(part: ToolCallContent, most: number): string {
  switch (part.type) {
    case 'diff': {
      const { path, oldText, newText } = part;
      // Cut before it is split: a file may have millions of lines.
      const marked = (text: string, mark: string) => lines(cutMiddle(text, most), mark);
      const before = oldText === null || oldText === undefined ? [] : [marked(oldText, '-')];
      return [path, ...before, marked(newText, '+')].join('\n');
    }
    case 'content':
      return part.content.type === 'text' ? part.content.text : `[${part.content.type}]`;
    case 'terminal':
      return '';
    default:
      return part satisfies never;
  }
}

/** The readable part of a call's content: at most about `most` characters. */
function contentText(content: readonly ToolCallContent[], most: number): string {
  const texts: string[] = [];
  let length = 0;
  for (const [at, part] of content.entries()) {
    if (length > most) {
      texts.push(`[${content.length - at} more parts]`);
      break;
    }
    const text = partText(part, most);
    length += text.length;
    if (text !== '') texts.push(text);
  }
  return texts.join('\n');
}

const diffsOf = (content: readonly ToolCallContent[]) =>
  content.flatMap((part) =>
    part.type === 'diff' ? [{ path: part.path, old_text: part.oldText ?? null, new_text: part.newText }] : [],
  );
const hasInput = (input: unknown) =>
  typeof input === 'object' && input !== null ? Object.keys(input).length > 0 : input !== undefined && input !== null;

/** How ACP agents name a tool of Roost's: Claude Code and Codex by name, Gemini CLI by a title. */
const OWN: readonly RegExp[] = [
  new RegExp(`^mcp__${OWN_SERVER}__([a-z_]+)$`),
  new RegExp(`^([a-z_]+) \\(${OWN_SERVER} MCP Server\\)$`),
];
/**
 * Kinds of an ACP agent's own actions. Their title may be text of the agent, such as a command or a
 * path.
 */
const BY_ITSELF: readonly string[] = ['execute', 'edit', 'delete', 'move', 'read', 'search', 'fetch'];
/**
 * The name of the Roost tool that is called. Null: another tool. If the ACP agent reports no names,
 * the title counts.
 */
function ownNameOf({ name, title, kind }: Pick<Call, 'name' | 'title' | 'kind'>): string | null {
  if (name === null && BY_ITSELF.includes(kind)) return null;
  for (const form of OWN) {
    const own = form.exec(name ?? title)?.[1];
    if (own !== undefined) return own;
  }
  return null;
}
const isOwn = (call: Pick<Call, 'name' | 'title' | 'kind'>) => ownNameOf(call) !== null;

/** The name that Claude Code's adapter reports beside the protocol. */
function nameBeside(meta: ToolCallUpdate['_meta']): string | null {
  const beside: unknown = meta?.['claudeCode'];
  return typeof beside === 'object' && beside !== null && 'toolName' in beside && typeof beside.toolName === 'string'
    ? beside.toolName
    : null;
}

export function createTurn(
  listener: Pick<MindListener, 'onText' | 'onTool'> & {
    /** The ACP agent acts by itself, as far as is known without asking. */
    readonly onAction: (tool: string, input: unknown) => ReturnType<RecordAction>;
  },
  limits: ProgramLimits,
): Turn {
  const calls = new Map<string, Call>();
  let shown = 0;
  /** Characters of text so far, and of calls as they were shown. */
  let heard = 0;
  let reportedCharacters = 0;
  let answerText = '';
  let messageId: string | null = null;
  let apart = false;
  let thought = '';
  let dollars: number | null = null;
  let plan = '';

  /** Characters per text. Long turns still show all calls, by their beginnings and ends. */
  const most = () => (reportedCharacters < limits.turnChars ? limits.toolChars : limits.briefChars);
  function cut(text: string): string {
    const short = cutMiddle(text, most());
    reportedCharacters += short.length;
    return short;
  }

  function show(toolUseId: string, name: string, input: unknown): Call['done'] {
    if (++shown > limits.turnTools) return null;
    return listener.onTool?.({ toolUseId, name, input }) ?? null;
  }
  /** A thought becomes one folded line, before the next action. */
  function endThought(): void {
    const text = thought.trim();
    thought = '';
    if (text !== '') show(`thought-${shown}`, THOUGHT, {})?.(cut(text), false);
  }
  const nameOf = (call: Call) => beginningOfText(ownNameOf(call) ?? `${MIND_PREFIX}${call.kind}`, 80);
  function inputOf({ title, input, content }: Call): Record<string, unknown> {
    const given = typeof input === 'object' && input !== null ? { ...input } : hasInput(input) ? { input } : {};
    const diffs = diffsOf(content);
    return { title: beginningOfText(title, limits.titleChars), ...given, ...(diffs.length > 0 ? { diffs } : {}) };
  }
  function shownInput(call: Call): unknown {
    const short = mapStrings(isOwn(call) ? call.input : inputOf(call), (text) => cutMiddle(text, most()));
    const { length } = JSON.stringify(short ?? null);
    const fits = length <= 2 * most();
    reportedCharacters += fits ? length : 0;
    return fits ? short : { title: cut(call.title) };
  }
  function open(id: string, call: Call, asks = false): void {
    if (call.done || call.ended) return;
    endThought();
    apart = true;
    // Calls beyond the shown ones are not recorded either.
    if (!asks && !isOwn(call) && calls.has(id)) call.noted = listener.onAction(nameOf(call), inputOf(call));
    call.done = show(id, nameOf(call), shownInput(call)) ?? (() => undefined);
  }
  function takeCall(update: ToolCallUpdate): Call {
    const before = calls.get(update.toolCallId);
    const call: Call = before ?? {
      title: '',
      kind: 'other',
      name: null,
      input: undefined,
      content: [],
      done: null,
      noted: null,
      begun: [],
      ended: false,
    };
    if (!before && calls.size < limits.turnTools) calls.set(update.toolCallId, call);
    call.title = update.title ?? call.title;
    call.kind = update.kind ?? call.kind;
    call.name = update.name ?? nameBeside(update._meta) ?? call.name;
    if (hasInput(update.rawInput)) call.input = update.rawInput;
    if (update.content) call.content = update.content;
    return call;
  }
  function endCall(id: string, call: Call, isError: boolean, raw: unknown, stopped: string | null = null): void {
    if (call.ended) return;
    open(id, call);
    call.ended = true;
    const text = stopped ?? contentText(call.content, limits.toolChars);
    const result = cut(text !== '' || !hasInput(raw) ? text : JSON.stringify(raw));
    call.done?.(result, isError);
    const end = { text: result, isError, stopped: stopped !== null };
    call.noted?.over({ ...end, input: inputOf(call) });
    for (const over of call.begun) over(end);
    // Input and output may be megabytes, and a turn may have many calls.
    call.content = [];
    call.input = undefined;
  }

  return {
    take(update) {
      switch (update.sessionUpdate) {
        case 'agent_message_chunk': {
          if (update.content.type !== 'text' || (heard += update.content.text.length) > limits.turnChars) return;
          endThought();
          const other = (update.messageId ?? null) !== messageId || apart;
          messageId = update.messageId ?? null;
          apart = false;
          const words =
            other && answerText !== '' && !answerText.endsWith('\n')
              ? `\n\n${update.content.text}`
              : update.content.text;
          answerText += words;
          for (let from = 0; from < words.length; from += limits.stepChars)
            listener.onText(words.slice(from, from + limits.stepChars));
          return;
        }
        case 'agent_thought_chunk':
          if (update.content.type === 'text' && (heard += update.content.text.length) <= limits.turnChars)
            thought += update.content.text;
          return;
        case 'plan': {
          const text = update.entries.map(({ status, content }) => `${status}: ${content}`).join('\n');
          if (text === plan) return;
          plan = text;
          endThought();
          apart = true;
          return show(`plan-${shown}`, `${MIND_PREFIX}plan`, {})?.(cut(text), false);
        }
        case 'tool_call':
        case 'tool_call_update': {
          const call = takeCall(update);
          const id = update.toolCallId;
          if (update.status === 'completed') return endCall(id, call, false, update.rawOutput);
          if (update.status === 'failed') return endCall(id, call, true, update.rawOutput);
          // The input may still arrive.
          if (hasInput(call.input)) open(id, call);
          return;
        }
        case 'usage_update':
          if (update.cost?.currency === 'USD' && update.cost.amount >= 0) dollars = update.cost.amount;
          return;
        default:
          // Commands, modes, titles and the like do not concern Roost.
          return;
      }
    },
    asked(update) {
      const call = takeCall(update);
      if (!call.ended) open(update.toolCallId, call, true);
      call.noted?.asks();
      call.noted = null;
      return {
        tool: `${MIND_PREFIX}${call.kind}`,
        input: inputOf(call),
        own: isOwn(call),
        begun(over) {
          if (!call.ended && calls.has(update.toolCallId)) call.begun.push(over);
          else over({ text: '', isError: true, stopped: true });
        },
      };
    },
    isSilent: () => answerText === '' && thought === '' && shown === 0 && dollars === null,
    text: () => answerText,
    dollars: () => dollars,
    end(stopped) {
      endThought();
      for (const [id, call] of calls) if (call.done) endCall(id, call, stopped !== null, undefined, stopped);
    },
  };
}

// Builds the prompts of an ACP agent: the new part of the conversation, and the earlier part where
// the process has not seen it. Pure.

/** What one ACP session has received so far. */
export interface Given {
  /** The instructions were sent when the session began. */
  readonly instructed: boolean;
  /** The instructions contain the wake payload. */
  readonly woken: boolean;
  /** The session was resumed: it knows the earlier conversation and the earlier wake payload. */
  readonly resumed: boolean;
  /** Number of messages that it has received, and the texts of the last one. */
  given: number;
  texts: readonly string[];
}

/** Kinds of attachments that the ACP agent accepts. */
export interface Takes {
  readonly image: boolean;
  readonly file: boolean;
}

/**
 * Replaces the wake payload that the instructions contain, where the first prompt has no other
 * text.
 */
const WOKEN = '[You are awake now. Who you are, and what was said before you slept, stands in your instructions.]';
/** For a resumed session. */
const AGAIN =
  '[You slept, and are awake again. You are who you were, and what was said before stands above. Say hello when you are ready: a greeting is enough; nobody needs a report.]';
const GO_ON = '[Go on.]';

const isText = (block: MindBlock) => block.kind === 'text';
const textsOf = ({ blocks }: MindMessage): string[] =>
  blocks.flatMap((block) => (block.kind === 'text' ? [block.text] : []));
const text = (words: string): ContentBlock => ({ type: 'text', text: words });

/**
 * The person's attachments in their place, or their names where the ACP agent does not accept them.
 * Tool calls and results are left out, because the ACP agent has its own.
 */
function contentOf(block: MindBlock, takes: Takes): ContentBlock[] {
  if (block.kind === 'text') return [text(block.text)];
  if (block.kind !== 'picture' && block.kind !== 'document') return [];
  const [data, mimeType] =
    block.kind === 'picture' ? [block.picture.data, block.picture.type] : [block.data, 'application/pdf'];
  if (block.kind === 'picture' && takes.image) return [{ type: 'image', data, mimeType }];
  if (block.kind === 'document' && takes.file) {
    const uri = `attachment:///${encodeURIComponent(block.name)}`;
    return [{ type: 'resource', resource: { uri, mimeType, blob: data } }];
  }
  return [text(`[${block.name} was sent along. You cannot be shown it by the program that you think with.]`)];
}

/** The earlier conversation, for a process that was not there. */
function historyOf(messages: readonly MindMessage[], takes: Takes): ContentBlock[] {
  const said = messages.flatMap((message) =>
    message.role === 'assistant'
      ? textsOf(message).map((words) => text(`[You said]\n${words}`))
      : message.blocks.flatMap((block) => contentOf(block, takes)),
  );
  return said.length === 0
    ? []
    : [text('[What was said before, in this conversation]'), ...said, text('[What comes now]')];
}

/** All texts of the user's messages. */
export const heardIn = (messages: readonly MindMessage[]): string[] =>
  messages.filter(({ role }) => role === 'user').flatMap(textsOf);

/** The wake payload: the first texts of the conversation. */
const wakeOf = ({ messages }: Pick<MindRequest, 'messages'>) => messages.slice(0, 1).flatMap(textsOf).at(0);

/**
 * Instructions that an ACP agent receives beside the conversation, and that survive its own
 * compaction: the system prompt, and where it `wakes`, the wake payload.
 */
export function instructionsOf(request: Pick<MindRequest, 'system' | 'messages'>, wakes: boolean): string {
  const woken = wakes ? wakeOf(request) : undefined;
  return woken === undefined ? request.system : `${request.system}\n\n${woken}`;
}

/** Whether the ACP agent can use Roost's tools. */
export const takesTools = ({ info }: Pick<Connection, 'info'>): boolean =>
  info.agentCapabilities?.mcpCapabilities?.http === true;

export const mcpServers = (
  { url, secret }: { readonly url: string; readonly secret: string },
  line: Pick<Connection, 'info'>,
): McpServer[] =>
  takesTools(line)
    ? [{ type: 'http', name: OWN_SERVER, url, headers: [{ name: 'Authorization', value: `Bearer ${secret}` }] }]
    : [];

/** The messages without the wake payload. */
function withoutWake(messages: readonly MindMessage[]): MindMessage[] {
  return messages.map((message, index) => {
    const at = index === 0 ? message.blocks.findIndex(isText) : -1;
    return at < 0 ? message : { ...message, blocks: message.blocks.toSpliced(at, 1) };
  });
}

/** The blocks after so many texts. A picture comes after the text that names it. */
function afterTexts(blocks: readonly MindBlock[], count: number): readonly MindBlock[] {
  let texts = 0;
  const from = blocks.findIndex((block) => isText(block) && ++texts > count);
  return from < 0 ? [] : blocks.slice(from);
}

/**
 * The next prompt. `announced`: answers to its questions. All of the prompt counts as received.
 */
export function promptOf(
  mine: Given,
  { system, messages }: Pick<MindRequest, 'system' | 'messages'>,
  announced: readonly string[],
  takes: Takes,
): ContentBlock[] {
  const last = messages.at(-1);
  const texts = last?.role === 'user' ? textsOf(last) : [];
  // After a turn without an answer, the same message is longer.
  const knownTexts =
    mine.given === messages.length && mine.texts.every((each, i) => texts[i] === each) ? mine.texts.length : 0;
  const seen = mine.woken ? withoutWake(messages) : messages;
  const head =
    mine.given > 0
      ? []
      : mine.resumed
        ? [text(AGAIN)]
        : [
            ...(mine.instructed ? [] : [text(`<instructions>\n${system}\n</instructions>`)]),
            ...historyOf(seen.slice(0, -1), takes),
          ];
  const fresh = (knownTexts > 0 ? afterTexts(last?.blocks ?? [], knownTexts) : (seen.at(-1)?.blocks ?? [])).flatMap(
    (block) => contentOf(block, takes),
  );
  const all = [...head, ...announced.map((words) => text(`[About what you asked for] ${words}`)), ...fresh];
  const none = mine.given > 0 ? GO_ON : WOKEN;
  mine.given = messages.length;
  mine.texts = texts;
  return all.length > 0 ? all : [text(none)];
}
