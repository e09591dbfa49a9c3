/**
 * What a program is given of a conversation: what is new in it, and where it was not there, what
 * was said before. Pure.
 */
import type { ContentBlock, McpServer } from '@agentclientprotocol/sdk';
import type { MindBlock, MindMessage, MindRequest } from '../../agents/minds/index.ts';
import type { Line } from './line.ts';
import { OWN_SERVER } from './turn.ts';

/** What one session of a program was given so far. */
export interface Given {
  /** It was given its instructions when its session began. */
  readonly instructed: boolean;
  /** What it woke with stands in them. */
  readonly woken: boolean;
  /** It knows what was said before, and what it woke with then. */
  readonly resumed: boolean;
  /** Messages of the conversation that it was given, and of the last one the texts. */
  given: number;
  texts: readonly string[];
}

/** What of the person's pictures and files a program takes. */
export interface Takes {
  readonly image: boolean;
  readonly file: boolean;
}

/** In place of what stands in its instructions, where nothing else is said to it at first. */
const WOKEN = '[You are awake now. Who you are, and what was said before you slept, stands in your instructions.]';
/** To one that goes on with its session. */
const AGAIN =
  '[You slept, and are awake again. You are who you were, and what was said before stands above. Say hello when you are ready: a greeting is enough; nobody needs a report.]';
const GO_ON = '[Go on.]';

const isText = (block: MindBlock) => block.kind === 'text';
const textsOf = ({ blocks }: MindMessage): string[] =>
  blocks.flatMap((block) => (block.kind === 'text' ? [block.text] : []));
const text = (words: string): ContentBlock => ({ type: 'text', text: words });

/**
 * What the person sent along, in its place; by name where the program does not take it. Calls and
 * results are the program's own.
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

/** What was said before, for a process that was not there. */
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

/** All texts that were put before it. */
export const heardIn = (messages: readonly MindMessage[]): string[] =>
  messages.filter(({ role }) => role === 'user').flatMap(textsOf);

/** What it woke with: the first words of its conversation. */
const wakeOf = ({ messages }: Pick<MindRequest, 'messages'>) => messages.slice(0, 1).flatMap(textsOf).at(0);

/**
 * What it is told beside the conversation, and keeps where it shortens that by itself: how things
 * are, and where it `wakes`, who it is and what was said last.
 */
export function instructionsOf(request: Pick<MindRequest, 'system' | 'messages'>, wakes: boolean): string {
  const woken = wakes ? wakeOf(request) : undefined;
  return woken === undefined ? request.system : `${request.system}\n\n${woken}`;
}

/** Whether Roost's tools can be handed to it. */
export const takesTools = ({ info }: Pick<Line, 'info'>): boolean =>
  info.agentCapabilities?.mcpCapabilities?.http === true;

export const mcpServers = (
  { url, secret }: { readonly url: string; readonly secret: string },
  line: Pick<Line, 'info'>,
): McpServer[] =>
  takesTools(line)
    ? [{ type: 'http', name: OWN_SERVER, url, headers: [{ name: 'Authorization', value: `Bearer ${secret}` }] }]
    : [];

/** Without what it woke with. */
function withoutWake(messages: readonly MindMessage[]): MindMessage[] {
  return messages.map((message, index) => {
    const at = index === 0 ? message.blocks.findIndex(isText) : -1;
    return at < 0 ? message : { ...message, blocks: message.blocks.toSpliced(at, 1) };
  });
}

/** What stands behind so many texts; a picture stands behind the text that names it. */
function afterTexts(blocks: readonly MindBlock[], count: number): readonly MindBlock[] {
  let texts = 0;
  const from = blocks.findIndex((block) => isText(block) && ++texts > count);
  return from < 0 ? [] : blocks.slice(from);
}

/**
 * Its next prompt; `told`: what it is told of its questions. What was put into it counts as given.
 */
export function promptOf(
  mine: Given,
  { system, messages }: Pick<MindRequest, 'system' | 'messages'>,
  told: readonly string[],
  takes: Takes,
): ContentBlock[] {
  const last = messages.at(-1);
  const texts = last?.role === 'user' ? textsOf(last) : [];
  // A turn in which it said nothing leaves the same message, longer.
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
