/** What a program is given of a conversation: what is new in it, and where it was not there, what was said before. Pure. */
import type { McpServer } from '@agentclientprotocol/sdk';
import type { MindMessage, MindRequest } from '../minds/index.ts';
import type { Line } from './line.ts';
import { OWN_SERVER } from './turn.ts';

/** What one session of a program was given so far. */
export interface Given {
  /** It was given its instructions when its session began. */
  readonly instructed: boolean;
  /** Messages of the conversation that it was given, and of the last one the texts. */
  given: number;
  texts: readonly string[];
}

const textsOf = ({ blocks }: MindMessage): string[] =>
  blocks.flatMap((block) => (block.kind === 'text' ? [block.text] : []));

/** What was said before, for a process that was not there. */
function historyOf(messages: readonly MindMessage[]): string[] {
  if (messages.length === 0) return [];
  const said = messages.flatMap((message) =>
    textsOf(message).map((text) => (message.role === 'assistant' ? `[You said]\n${text}` : text)),
  );
  return [`[What was said before, in this conversation]`, ...said, `[What comes now]`];
}

export const mcpServers = (
  { url, secret }: { readonly url: string; readonly secret: string },
  line: Pick<Line, 'info'>,
): McpServer[] =>
  line.info.agentCapabilities?.mcpCapabilities?.http === true
    ? [{ type: 'http', name: OWN_SERVER, url, headers: [{ name: 'Authorization', value: `Bearer ${secret}` }] }]
    : [];

/** Texts of its next prompt; `told`: what it is told of its questions. What was put into it counts as given. */
export function promptOf(mine: Given, { system, messages }: MindRequest, told: readonly string[]): string[] {
  const last = messages.at(-1);
  const texts = last?.role === 'user' ? textsOf(last) : [];
  // A turn in which it said nothing leaves the same message, longer.
  const same = mine.given === messages.length && mine.texts.every((text, i) => texts[i] === text);
  const head =
    mine.given > 0
      ? []
      : [
          ...(mine.instructed ? [] : [`<instructions>\n${system}\n</instructions>`]),
          ...historyOf(messages.slice(0, -1)),
        ];
  const fresh = same ? texts.slice(mine.texts.length) : texts;
  mine.given = messages.length;
  mine.texts = texts;
  return [...head, ...told.map((words) => `[About what you asked for] ${words}`), ...fresh];
}
