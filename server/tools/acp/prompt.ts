/**
 * Builds the prompts of an ACP agent: the new part of the conversation, and the earlier part where
 * the process has not seen it. Pure.
 */
import type { ContentBlock, McpServer } from '@agentclientprotocol/sdk';
import type { MindBlock, MindMessage, MindRequest } from '../../agents/minds/index.ts';
import type { Line } from './line.ts';
import { OWN_SERVER } from './turn.ts';

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
export const takesTools = ({ info }: Pick<Line, 'info'>): boolean =>
  info.agentCapabilities?.mcpCapabilities?.http === true;

export const mcpServers = (
  { url, secret }: { readonly url: string; readonly secret: string },
  line: Pick<Line, 'info'>,
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
 * The next prompt. `told`: answers to its questions. Everything in the prompt counts as received.
 */
export function promptOf(
  mine: Given,
  { system, messages }: Pick<MindRequest, 'system' | 'messages'>,
  told: readonly string[],
  takes: Takes,
): ContentBlock[] {
  const last = messages.at(-1);
  const texts = last?.role === 'user' ? textsOf(last) : [];
  // After a turn without an answer, the same message is longer.
  const known =
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
  const fresh = (known > 0 ? afterTexts(last?.blocks ?? [], known) : (seen.at(-1)?.blocks ?? [])).flatMap((block) =>
    contentOf(block, takes),
  );
  const all = [...head, ...told.map((words) => text(`[About what you asked for] ${words}`)), ...fresh];
  const none = mine.given > 0 ? GO_ON : WOKEN;
  mine.given = messages.length;
  mine.texts = texts;
  return all.length > 0 ? all : [text(none)];
}
