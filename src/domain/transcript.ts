/**
 * What somebody is given of earlier sessions when it wakes: a story, oldest first, within a number of characters that
 * holds whatever was said. First in line for the room is the most recent session in which somebody said something to
 * it; then come the others, newest first, until the room is full. A session of nothing but its greeting is a line.
 */
import { inOneLine, keepPairs } from './talk.ts';

export interface TranscriptMessage {
  /** The name people read of whoever said it: also where another agent wrote to the one that remembers. */
  readonly author: string;
  /** ms since the epoch */
  readonly time: number;
  readonly text: string;
}

export type TranscriptSession =
  /** `addressed`: somebody said something to the one who remembers. `earlier`: messages before these that were not even read. */
  | { readonly kind: 'talk'; readonly addressed: boolean; readonly messages: readonly TranscriptMessage[]; readonly earlier: number }
  /** Sessions on end in which nobody said anything to it. `more`: there are more of them. `words`: of its last greeting. */
  | { readonly kind: 'greetings'; readonly times: number; readonly more: boolean; readonly from: number; readonly until: number; readonly words: string | null };

export interface Transcript {
  /** At most as many UTF-16 units as the cap. */
  readonly text: string;
  readonly kept: number;
  readonly leftOut: number;
}

const BETWEEN = '\n\n';
/** Longest name, and longest quotation of a greeting, in characters. */
const NAME_MAX = 120;
const GREETING_MAX = 240;
/** Shortest piece of a message that is worth showing. */
const PIECE_MIN = 80;

/** `2026-11-21 08:52` in UTC: agents on different devices must read the same text. */
const minute = (time: number) => new Date(time).toISOString().slice(0, 16).replace('T', ' ');
const day = (time: number) => new Date(time).toISOString().slice(0, 10);

const headOf = ({ author, time }: TranscriptMessage) => `${inOneLine(author, NAME_MAX)} (${minute(time)} UTC):\n`;
const dateLine = (time: number) => `=== ${day(time)} ===`;
const messages = (count: number) => (count === 1 ? '1 earlier message' : `${count} earlier messages`);

export const leftOutLine = (count: number): string => `[${messages(count)} ${count === 1 ? 'was' : 'were'} left out]`;
const leftOutHere = (count: number): string => `[${messages(count)} of this session ${count === 1 ? 'was' : 'were'} left out]`;
const cutLine = (count: number): string => `\n[${count} characters are left out here]\n`;

/** A text of at most `most` UTF-16 units: whole, or with its middle left out, which it says. */
export function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const room = most - cutLine(text.length).length;
  // No room even for saying so.
  if (room < 2) return keepPairs(text.slice(0, Math.max(0, most)));
  const start = keepPairs(text.slice(0, Math.ceil(room / 2)));
  const rest = text.slice(text.length - Math.floor(room / 2));
  const end = /^[\udc00-\udfff]/.test(rest) ? rest.slice(1) : rest;
  return `${start}${cutLine(text.length - start.length - end.length)}${end}`;
}

function greetingsLine({ times, more, from, until, words }: Extract<TranscriptSession, { kind: 'greetings' }>): string {
  const when = day(from) === day(until) ? day(until) : `${day(from)} to ${day(until)}`;
  const often = more ? `more than ${times} times` : times === 1 ? 'once' : `${times} times`;
  const said = words === null || words.trim() === '' ? '' : `; ${times === 1 && !more ? 'your greeting' : 'your last greeting'}: “${inOneLine(words, GREETING_MAX)}”`;
  return `[${when}: you woke ${often}, and nobody said anything to you${said}]`;
}

interface Shown {
  readonly lines: readonly string[];
  readonly kept: number;
  readonly leftOut: number;
}
const NOTHING: Shown = { lines: [], kept: 0, leftOut: 0 };

/** What lines take, each with what parts it from the next. */
const sizeOf = (lines: readonly string[]) => lines.reduce((sum, line) => sum + line.length + BETWEEN.length, 0);

/** The newest of a session that fits `room`, no message longer than `most`; nothing where not even one does, and `must` does not hold. */
function fitTalk({ messages, earlier }: Extract<TranscriptSession, { kind: 'talk' }>, room: number, most: number, must: boolean): Shown {
  const total = messages.length + earlier;
  const [first] = messages;
  if (!first) return { ...NOTHING, leftOut: total };
  const pieces = messages.map((message) => cutPiece(message, most));
  const all = [dateLine(first.time), ...(earlier > 0 ? [leftOutHere(earlier)] : []), ...pieces];
  if (sizeOf(all) <= room) return { lines: all, kept: pieces.length, leftOut: earlier };
  let left = room - sizeOf([dateLine(first.time), leftOutHere(total)]);
  let from = pieces.length;
  for (let size = sizeOf(pieces.slice(from - 1, from)); from > 0 && size <= left; size = sizeOf(pieces.slice(from - 1, from))) {
    left -= size;
    from -= 1;
  }
  const kept = pieces.slice(from);
  const last = messages.at(-1);
  // The very last thing said is there, if only its ends.
  if (must && last && kept.length === 0 && left > PIECE_MIN) kept.push(cutPiece(last, left - BETWEEN.length));
  if (kept.length === 0) return { ...NOTHING, leftOut: total };
  const leftOut = total - kept.length;
  const oldest = messages[messages.length - kept.length] ?? first;
  return { lines: [dateLine(oldest.time), ...(leftOut > 0 ? [leftOutHere(leftOut)] : []), ...kept], kept: kept.length, leftOut };
}

function cutPiece(message: TranscriptMessage, most: number): string {
  const head = headOf(message);
  return cutMiddle(head, most) + cutMiddle(message.text, Math.max(0, most - head.length));
}

function fit(session: TranscriptSession, room: number, cap: number, must: boolean): Shown {
  if (session.kind === 'talk') return fitTalk(session, room, Math.floor(cap / 2), must);
  const line = greetingsLine(session);
  return sizeOf([line]) <= room ? { lines: [line], kept: 0, leftOut: 0 } : NOTHING;
}

/** The sessions that fit `room`, each with what of it does: first the one that must not be lost, then the newest. */
function fill(sessions: readonly TranscriptSession[], room: number, cap: number): { readonly shown: readonly Shown[]; readonly whole: boolean } {
  const shown = sessions.map((): Shown => NOTHING);
  const first = sessions.findLastIndex((session) => session.kind === 'talk' && session.addressed);
  let left = room;
  let whole = true;
  const place = (session: TranscriptSession, index: number, must: boolean) => {
    const one = fit(session, left, cap, must);
    shown[index] = one;
    left -= sizeOf(one.lines);
    whole = one.leftOut === 0;
  };
  const primary = sessions[first];
  if (primary) place(primary, first, true);
  for (let index = sessions.length - 1; index >= 0 && whole; index--) {
    const session = sessions[index];
    if (session && index !== first) place(session, index, first < 0);
  }
  return { shown, whole };
}

/**
 * Renders `sessions` (oldest first) in at most `cap` characters. A message that is longer than half of that is cut in its
 * middle, and says by how much. `earlier`: messages of still earlier sessions that were not even read. Null where
 * there is nothing to tell, or no room to tell it in.
 */
export function renderTranscript(sessions: readonly TranscriptSession[], cap: number, earlier = 0): Transcript | null {
  const total = sessions.reduce((sum, session) => (session.kind === 'talk' ? sum + session.messages.length + session.earlier : sum), earlier);
  // What stands last is parted from nothing.
  const room = cap + BETWEEN.length;
  const line = sizeOf([leftOutLine(total)]);
  const all = fill(sessions, room, cap);
  // Room for the line that says what is missing is only kept where something is.
  const { shown } = all.whole && earlier === 0 ? all : fill(sessions, room - line, cap);
  const kept = shown.reduce((sum, one) => sum + one.kept, 0);
  const told = shown.reduce((sum, one) => (one.lines.length > 0 ? sum + one.leftOut : sum), 0);
  const leftOut = total - kept;
  const lines = shown.flatMap((one) => one.lines);
  if (leftOut > told && line <= room) lines.unshift(leftOutLine(leftOut - told));
  return lines.length === 0 ? null : { text: lines.join(BETWEEN), kept, leftOut };
}
