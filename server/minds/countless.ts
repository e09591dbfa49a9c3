/**
 * Servers that say nothing of what an answer took, in its first event or its last, where the API always does: the SDK would
 * break off there, after all the words. Here they say it with nothing in it.
 */
import Anthropic from '@anthropic-ai/sdk';
import type { APIPromise } from '@anthropic-ai/sdk/core/api-promise';
import { Stream } from '@anthropic-ai/sdk/core/streaming';

type Event = Anthropic.RawMessageStreamEvent;
type Sent = { readonly usage?: object | null };

const has = ({ usage }: Sent) => typeof usage === 'object' && usage !== null;

function filled(event: Event): Event {
  if (event.type === 'message_start' && !has(event.message)) Object.assign(event.message, { usage: {} });
  if (event.type === 'message_delta' && !has(event)) Object.assign(event, { usage: {} });
  return event;
}

async function* filledAll(events: AsyncIterable<Event>): AsyncGenerator<Event> {
  for await (const event of events) yield filled(event);
}

const isStream = (answer: Stream<Event> | Anthropic.Message): answer is Stream<Event> => answer instanceof Stream;

type Params = Anthropic.MessageCreateParams;
type Answer = Stream<Event> | Anthropic.Message;
type Options = Anthropic.RequestOptions;

export class CountlessMessages extends Anthropic.Messages {
  override create(body: Anthropic.MessageCreateParamsNonStreaming, options?: Options): APIPromise<Anthropic.Message>;
  override create(body: Anthropic.MessageCreateParamsStreaming, options?: Options): APIPromise<Stream<Event>>;
  override create(body: Params, options?: Options): APIPromise<Answer>;
  override create(body: Params, options?: Options): APIPromise<Answer> {
    return super
      .create(body, options)
      ._thenUnwrap((answer) => (isStream(answer) ? new Stream(() => filledAll(answer), answer.controller) : answer));
  }
}
