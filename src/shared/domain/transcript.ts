/**
 * What somebody is given of earlier sessions when it wakes: a story, oldest first, within a number
 * of characters that holds whatever was said. First in line for the room is the most recent session
 * in which somebody said something to it; then come the others, newest first, until the room is
 * full. A session of nothing but its greeting is a line. What somebody said stands as such
 * (quoting.ts): no message holds the head of another, or a line of the relay's.
 */
import { MOST_MARKS, quote, QUOTE_MARK, readSaid, restOf, unquote } from './quoting.ts';
import { inOneLine, keepPairs } from './talk.ts';

export interface TranscriptMessage {
  /**
   * The name people read of whoever said it: also where another agent wrote to the one that
   * remembers.
   */
  readonly author: string;
  /** ms since the epoch */
  readonly time: number;
  readonly text: string;
}

export type TranscriptSession =
  /**
   * `addressed`: somebody said something to the one who remembers. `earlier`: messages before these
   * that were not even read.
   */
  | {
      readonly kind: 'talk';
      readonly addressed: boolean;
      readonly messages: readonly TranscriptMessage[];
      readonly earlier: number;
    }
  /**
   * Sessions on end in which nobody said anything to it. `more`: there are more of them. `words`:
   * of its last greeting.
   */
  | {
      readonly kind: 'greetings';
      readonly times: number;
      readonly more: boolean;
      readonly from: number;
      readonly until: number;
      readonly words: string | null;
    };

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
/** Of the cap: what a message that is too long to be told whole is cut to at most, and at least. */
export const LONG_SHARE = { most: 1 / 2, least: 1 / 40 } as const;

/** `2026-11-21 08:52` in UTC: agents on different devices must read the same text. */
const minute = (time: number) => new Date(time).toISOString().slice(0, 16).replace('T', ' ');
const day = (time: number) => new Date(time).toISOString().slice(0, 10);

const headOf = ({ author, time }: TranscriptMessage) => `${inOneLine(author, NAME_MAX)} (${minute(time)} UTC):\n`;
const dateLine = (time: number) => `=== ${day(time)} ===`;
const messages = (count: number) => (count === 1 ? '1 earlier message' : `${count} earlier messages`);

export const leftOutLine = (count: number): string => `[${messages(count)} ${count === 1 ? 'was' : 'were'} left out]`;
const leftOutHere = (count: number): string =>
  `[${messages(count)} of this session ${count === 1 ? 'was' : 'were'} left out]`;
/** A cut went through the mark of a line. */
// eslint-disable-next-line no-control-regex
const UNFINISHED_MARK = /(?:\r\n|[\n\r\v\f\u001c-\u001e\u0085\u2028\u2029])>?$/;
const cutLine = (count: number): string => `\n[${count} characters are left out here]\n`;

/**
 * What somebody said, in at most `most` UTF-16 units: whole, or with its middle left out, which it
 * says.
 */
export function quoteWithin(text: string, most: number): string {
  const quoted = quote(text);
  if (quoted.length <= most) return quoted;
  const room = most - cutLine(text.length).length - MOST_MARKS;
  // No room even for saying so.
  if (room < 2 * QUOTE_MARK.length + 2) return keepPairs(quoted.slice(0, Math.max(0, most)));
  const start = keepPairs(quoted.slice(0, Math.ceil(room / 2))).replace(UNFINISHED_MARK, '');
  const end = restOf(quoted, quoted.length - Math.floor(room / 2));
  return `${start}${cutLine(Math.max(1, text.length - unquote(start).length - unquote(end).length))}${end}`;
}

function greetingsLine({ times, more, from, until, words }: Extract<TranscriptSession, { kind: 'greetings' }>): string {
  const when = day(from) === day(until) ? day(until) : `${day(from)} to ${day(until)}`;
  const often = more ? `more than ${times} times` : times === 1 ? 'once' : `${times} times`;
  const said =
    words === null || words.trim() === ''
      ? ''
      : `; ${times === 1 && !more ? 'your greeting' : 'your last greeting'}: “${inOneLine(words, GREETING_MAX)}”`;
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

const sizeOfMessage = (message: TranscriptMessage) => headOf(message).length + quote(message.text).length;

/**
 * Longest piece, of at most `most`: what is longer is cut further, down to `least`, where by that
 * every message is told.
 */
function longestPiece(messages: readonly TranscriptMessage[], room: number, { most, least }: Pieces): number {
  const sizes = messages.map(sizeOfMessage);
  const long = sizes.filter((size) => size > most).length;
  if (long === 0) return most;
  const others = sizes.reduce((sum, size) => (size > most ? sum : sum + size), 0);
  const share = Math.floor((room - others - messages.length * BETWEEN.length) / long);
  return share < least ? most : Math.min(most, share);
}

interface Pieces {
  readonly most: number;
  readonly least: number;
}

/**
 * The newest of a session that fits `room`, no message longer than `pieces` allow; nothing where
 * not even one does, and `must` does not hold.
 */
function fitTalk(
  session: Extract<TranscriptSession, { kind: 'talk' }>,
  room: number,
  pieces: Pieces,
  must: boolean,
): Shown {
  const { messages, earlier } = session;
  const total = messages.length + earlier;
  const [first] = messages;
  if (!first) return { ...NOTHING, leftOut: total };
  const above = [dateLine(first.time), ...(earlier > 0 ? [leftOutHere(earlier)] : [])];
  const most = longestPiece(messages, room - sizeOf(above), pieces);
  const all = [...above, ...messages.map((message) => cutPiece(message, most))];
  if (sizeOf(all) <= room) return { lines: all, kept: messages.length, leftOut: earlier };
  let left = room - sizeOf([dateLine(first.time), leftOutHere(total)]);
  const kept: string[] = [];
  for (const message of messages.toReversed()) {
    const isLong = sizeOfMessage(message) > most;
    // What is cut anyway is cut to what is left, if only to its ends; and so is the very last thing
    // said.
    const fits = left - BETWEEN.length;
    const canCut = (isLong && fits >= pieces.least) || (must && kept.length === 0 && left > PIECE_MIN);
    const piece = cutPiece(message, canCut ? Math.min(most, fits) : most);
    if (sizeOf([piece]) > left) break;
    kept.unshift(piece);
    left -= sizeOf([piece]);
  }
  if (kept.length === 0) return { ...NOTHING, leftOut: total };
  const leftOut = total - kept.length;
  const oldest = messages[messages.length - kept.length] ?? first;
  return {
    lines: [dateLine(oldest.time), ...(leftOut > 0 ? [leftOutHere(leftOut)] : []), ...kept],
    kept: kept.length,
    leftOut,
  };
}

function cutPiece(message: TranscriptMessage, most: number): string {
  const head = headOf(message);
  // A head is in one line, or it is none.
  return head.length > most
    ? keepPairs(head.slice(0, Math.max(0, most)).trimEnd())
    : head + quoteWithin(message.text, most - head.length);
}

function fit(session: TranscriptSession, room: number, cap: number, must: boolean): Shown {
  if (session.kind === 'talk')
    return fitTalk(
      session,
      room,
      { most: Math.floor(cap * LONG_SHARE.most), least: Math.max(PIECE_MIN, Math.floor(cap * LONG_SHARE.least)) },
      must,
    );
  const line = greetingsLine(session);
  return sizeOf([line]) <= room ? { lines: [line], kept: 0, leftOut: 0 } : NOTHING;
}

/**
 * The sessions that fit `room`, each with what of it does: first the one that must not be lost,
 * then the newest.
 */
function fill(
  sessions: readonly TranscriptSession[],
  room: number,
  cap: number,
): { readonly shown: readonly Shown[]; readonly whole: boolean } {
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
 * Renders `sessions` (oldest first) in at most `cap` characters. A message that is longer than half
 * of that is cut in its middle, and says by how much; where several are, they share the room that
 * the others leave. `earlier`: messages of still earlier sessions that were not even read. Null
 * where there is nothing to tell, or no room to tell it in.
 */
export function renderTranscript(sessions: readonly TranscriptSession[], cap: number, earlier = 0): Transcript | null {
  const total = sessions.reduce(
    (sum, session) => (session.kind === 'talk' ? sum + session.messages.length + session.earlier : sum),
    earlier,
  );
  // What stands last is parted from nothing.
  const room = cap + BETWEEN.length;
  const line = sizeOf([leftOutLine(total)]);
  const all = fill(sessions, room, cap);
  // Room for the line that says what is missing is only kept where something is.
  const { shown } = all.whole && earlier === 0 ? all : fill(sessions, room - line, cap);
  const kept = shown.reduce((sum, one) => sum + one.kept, 0);
  const mentioned = shown.reduce((sum, one) => (one.lines.length > 0 ? sum + one.leftOut : sum), 0);
  const leftOut = total - kept;
  const lines = shown.flatMap((one) => one.lines);
  if (leftOut > mentioned && line <= room) lines.unshift(leftOutLine(leftOut - mentioned));
  return lines.length === 0 ? null : { text: lines.join(BETWEEN), kept, leftOut };
}

/** The head of a message, as it is read back. */
const HEAD = /^(?<author>.+) \((?<at>\d{4}-\d\d-\d\d \d\d:\d\d) UTC\):$/;
const CUT = /^\[\d+ characters are left out here\]$/;

/**
 * The messages of a transcript, wherever in a prompt it stands, oldest first; `time` to the minute.
 * The two ends of one that was cut are one.
 */
export function parseTranscript(text: string): TranscriptMessage[] {
  const messages: { author: string; time: number; text: string }[] = [];
  for (const said of readSaid(text)) {
    const { author, at } = HEAD.exec(said.head)?.groups ?? {};
    const last = messages.at(-1);
    if (author !== undefined && at !== undefined)
      messages.push({ author, time: Date.parse(`${at.replace(' ', 'T')}Z`), text: said.text });
    else if (last && CUT.test(said.head)) last.text += ` … ${said.text}`;
  }
  return messages;
}
