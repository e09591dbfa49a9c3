/** In a rehearsal agents reach each other too, where they are told to in plain words: nobody needs a model to see how it works. */
import { quote } from './facts.ts';
import { isMessage, messageIn, type Reading } from './reading.ts';
import { call, words, type ReplyPart } from './reply.ts';

const NAME = String.raw`["“]?(?<to>[\p{L}][\p{L}\p{M}\d' -]{0,40}?)["”]?`;
const MESSAGE = new RegExp(
  String.raw`^\s*(?:please\s+)?(?:tell|message|write to)\s+${NAME}\s*(?::|,|that\b)\s*(?<text>[\s\S]+)$`,
  'iu',
);
const WAKE = new RegExp(String.raw`^\s*(?:please\s+)?wake\s+${NAME}\s*(?::|,|because\b)\s*(?<text>[\s\S]+)$`, 'iu');
const END = String.raw`(?:\s+now)?(?:,?\s+please)?\s*[.!]*\s*$`;
const SLEEP = new RegExp(String.raw`^\s*(?:please\s+)?(?:go to sleep|sleep now)${END}`, 'i');
const READ = new RegExp(String.raw`^\s*(?:please\s+)?(?:read|check) your (?:inbox|mail)${END}`, 'i');

/** What it says of a message. It does not write back: two of a rehearsal would never end. */
export function onMessage(text: string): string {
  const { from, text: said } = messageIn(text) ?? { from: 'Somebody', text: '' };
  return `${from} wrote to me: ${quote(said)}. I have that.`;
}

/** A call of the tool that the person's words ask for; null where they ask for none. "Tell me about yourself" names nobody of the team. */
export function reachOut({ last, team, tools }: Reading): ReplyPart[] | null {
  const said = last.texts.filter((text) => !isMessage(text)).at(-1) ?? '';
  const named = (pattern: RegExp) => {
    const groups = pattern.exec(said)?.groups;
    return groups && team.has((groups['to'] ?? '').toLowerCase()) ? groups : null;
  };
  const wake = named(WAKE);
  if (wake) {
    const message = { to: wake['to'] ?? '', message: wake['text'] ?? '' };
    if (tools.has('wake_agent')) return [call('wake_agent', { ...message, reason: 'user_request' })];
    return [
      words('All waking is switched off, so I leave a message; it waits in the inbox.'),
      call('message_agent', message),
    ];
  }
  const message = named(MESSAGE);
  if (message) return [call('message_agent', { to: message['to'] ?? '', message: message['text'] ?? '' })];
  if (SLEEP.test(said))
    return [
      tools.has('go_to_sleep')
        ? call('go_to_sleep', {})
        : words('I am the one the team is reached through, so I stay up. End the session, and everyone sleeps.'),
    ];
  if (READ.test(said)) return [call('read_inbox', {})];
  return null;
}

/** Tools whose answer is for the person to read as it is. */
export const OUTCOMES: ReadonlySet<string> = new Set(['message_agent', 'wake_agent', 'go_to_sleep', 'read_inbox']);
