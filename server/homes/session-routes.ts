/** A home's session and its events. */
import type { Context } from 'hono';
import type { HTTPException } from 'hono/http-exception';
import type { MessageId } from '../../src/domain/ids.ts';
import { parseStamp } from '../../src/domain/stamp.ts';
import { sessionEndpoints } from '../../src/protocol/endpoints/session.ts';
import type { EventLog, PostOutcome, SessionHost } from '../contracts.ts';
import { answer, refuseHead, type Handled } from '../endpoint.ts';
import { misfitIn, problem } from '../problem.ts';
import type { Runs } from '../runs/index.ts';
import type { Streams } from '../stream.ts';

export interface SessionRoutesDeps {
  readonly host: SessionHost;
  readonly runs: Pick<Runs, 'stop'>;
  readonly log: Pick<EventLog, 'ack'>;
  readonly streams: Streams;
  /** Throws a problem where no further stream may be opened. */
  readonly checkStreams: (browser: string | undefined) => void;
}

type Refusal = Exclude<PostOutcome, { ok: true }>;

function refusal({ reason, detail }: Refusal): HTTPException {
  switch (reason) {
    case 'no-session':
    case 'already-awake':
    case 'not-last':
      return problem(409, reason, detail);
    case 'unknown-agent':
      return problem(404, reason, detail);
    case 'too-large':
      return problem(413, reason, detail);
    case 'malformed':
      return problem(400, reason, detail, { fields: { errors: [{ field: 'text', message: detail }] } });
  }
}

/** `Last-Event-ID` over `?after=`. Throws a problem where it is no event id. */
function cursorOf(context: Context): number {
  const [field, text] = [
    ['Last-Event-ID', context.req.header('last-event-id')] as const,
    ['after', context.req.query('after')] as const,
  ].find(([, value]) => value !== undefined && value !== '') ?? ['after', '0'];
  const id = /^\d{1,16}$/.test(text ?? '') ? Number(text) : NaN;
  if (!Number.isSafeInteger(id)) throw misfitIn(field, 'must be the id of an event');
  return id;
}

/** An answer that carries an event stream. */
export const streamResponse = (stream: ReadableStream<Uint8Array>): Response =>
  new Response(stream, {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    },
  });

const clockAhead = (after: string) =>
  `The newest of this household is dated ${new Date(parseStamp(after)?.time ?? 0).toISOString().slice(0, 10)}, more than a day ahead of the relay’s clock: one of the clocks is wrong, or was. Set it right, or go on after what is there.`;

export function createSessionRoutes({ host, runs, log, streams, checkStreams }: SessionRoutesDeps): readonly Handled[] {
  return answer(sessionEndpoints, {
    async startSession({ body }) {
      const started = await host.start(body);
      const { sessionId } = started;
      if (sessionId === null) throw problem(422, 'clock-ahead', clockAhead(body.after ?? ''));
      if (!started.ok) throw problem(409, 'session-active', 'A session is running already.', { fields: { sessionId } });
      return { sessionId };
    },
    async endSession() {
      if (!(await host.end('ended'))) throw problem(409, 'no-session', 'No session is running.');
      return null;
    },
    async postMessage({ body }) {
      const outcome = await host.post(body);
      if (!outcome.ok) throw refusal(outcome);
      return { eventId: outcome.eventId };
    },
    async takeBack({ messageId }) {
      if (!(await host.takeBack(messageId as MessageId)))
        throw problem(
          409,
          'read-already',
          'This has been read already. It can be changed with Edit from here, in its menu.',
        );
      return null;
    },
    async stop({ agentId }) {
      // One that has just finished by itself is what was asked for.
      // At work alone it keeps the session waiting for its turn: that is what is stopped.
      if (!runs.stop(agentId)) await host.stop(agentId);
      return null;
    },
    async sleep({ agentId }) {
      if (!(await host.sleep(agentId))) throw problem(404, 'not-awake', 'This agent is neither awake nor hatching.');
      return null;
    },
    events({ log: followed = null, searches, once }, context) {
      refuseHead(context);
      const after = cursorOf(context);
      checkStreams(context.get('browser'));
      const { outgoing } = context.env;
      return streamResponse(
        streams.open(
          { after, log: followed, searches: searches !== undefined, once: once !== undefined },
          () => outgoing.destroy(),
          context.get('browser'),
        ),
      );
    },
    async ack({ body }) {
      await log.ack(body.upTo);
      return null;
    },
  });
}
