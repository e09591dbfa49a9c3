/**
 * What an agent is given of its last conversation: the newest messages that fit a cap, cut at message
 * boundaries, with a line that says how many earlier ones were left out.
 */

export interface TranscriptMessage {
  /** The name people read of whoever said it: also where another agent wrote to the one that remembers. */
  readonly author: string;
  /** ms since the epoch */
  readonly time: number;
  readonly text: string;
}

export interface Transcript {
  readonly text: string;
  readonly kept: number;
  readonly leftOut: number;
}

/** `2026-11-21 08:52` in UTC: agents on different devices must read the same text. */
const minute = (time: number) => new Date(time).toISOString().slice(0, 16).replace('T', ' ');

const renderMessage = (message: TranscriptMessage) => `${message.author} (${minute(message.time)} UTC):\n${message.text}`;

export function leftOutLine(count: number): string {
  return `[${count} earlier ${count === 1 ? 'message was' : 'messages were'} left out]`;
}

/**
 * Renders `messages` (oldest first) within `cap` characters of message text, newest kept. A newest
 * message that alone is over the cap is kept whole: a wake must not forget the last thing said.
 * `earlier` counts messages before these that were not even read. Returns null where there is nothing to tell.
 */
export function renderTranscript(messages: readonly TranscriptMessage[], cap: number, earlier = 0): Transcript | null {
  if (messages.length === 0) return null;
  const kept: string[] = [];
  let size = 0;
  for (const message of messages.toReversed()) {
    const text = renderMessage(message);
    if (kept.length > 0 && size + text.length > cap) break;
    kept.unshift(text);
    size += text.length;
    if (size > cap) break;
  }
  const leftOut = earlier + messages.length - kept.length;
  const parts = leftOut > 0 ? [leftOutLine(leftOut), ...kept] : kept;
  return { text: parts.join('\n\n'), kept: kept.length, leftOut };
}
