/** Reads a relay's event stream as it is, without coming back when it ends. */
import { createParser } from 'eventsource-parser';
import { chunksOf } from '../../src/shared/domain/platform/old-browsers.ts';

export interface StreamMessage {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: unknown;
}

export interface OpenStream {
  readonly response: Response;
  /** Everything so far. */
  readonly messages: readonly StreamMessage[];
  readonly comments: readonly string[];
  /** Resolves when `enough` says so of what has come; rejects where the stream ends before. */
  until(enough: (messages: readonly StreamMessage[]) => boolean): Promise<readonly StreamMessage[]>;
  /** Resolves when the relay ends the stream: null in good order, the error otherwise. */
  readonly ended: Promise<unknown>;
  close(): void;
}

/** `open` makes the request; it is given the signal that closes it. */
export async function openEventSource(open: (signal: AbortSignal) => Promise<Response>): Promise<OpenStream> {
  const controller = new AbortController();
  const response = await open(controller.signal);
  const messages: StreamMessage[] = [];
  const comments: string[] = [];
  const waiting = new Set<() => void>();
  let over = false;
  const parser = createParser({
    onEvent: ({ id, event, data }) => messages.push({ id, event: event ?? 'message', data: JSON.parse(data) }),
    onComment: (comment) => comments.push(comment),
  });
  async function read(): Promise<unknown> {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ? chunksOf(response.body) : []) {
        parser.feed(decoder.decode(chunk, { stream: true }));
        for (const check of waiting) check();
      }
      return null;
    } catch (error) {
      return error;
    } finally {
      over = true;
      for (const check of waiting) check();
    }
  }
  const ended = read();
  return {
    response,
    messages,
    comments,
    ended,
    until: (enough) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (enough(messages)) resolve(messages);
          else if (over) reject(new Error(`the stream ended after ${messages.length} messages`));
          else return;
          waiting.delete(check);
        };
        waiting.add(check);
        check();
      }),
    close: () => controller.abort(),
  };
}
