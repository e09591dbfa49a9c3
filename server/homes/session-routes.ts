/** A home's session and its events. */
import type { HTTPException } from 'hono/http-exception';
import type { Context } from 'hono';
import { parseStamp } from '../../src/domain/stamp.ts';
import { ackSchema, postMessageSchema, startSessionSchema } from '../../src/protocol/http.ts';
import { readBody } from '../body.ts';
import type { EventLog, PostOutcome, SessionHost } from '../contracts.ts';
import { problem } from '../problem.ts';
import { idOf, type Env, type Routes } from '../route.ts';
import type { Streams } from '../stream.ts';

export interface SessionRoutesDeps {
  readonly host: SessionHost;
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
  if (!Number.isSafeInteger(id)) {
    const message = 'must be the id of an event';
    throw problem(400, 'misfit', `${field}: ${message}`, { fields: { errors: [{ field, message }] } });
  }
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

/** Throws a problem for a HEAD, which would open a stream that nobody reads. */
export function refuseHead(context: Context): void {
  if (context.req.method === 'HEAD')
    throw problem(405, 'method', 'This address takes GET.', { headers: { allow: 'GET' } });
}

const clockAhead = (after: string) =>
  `The newest of this household is dated ${new Date(parseStamp(after)?.time ?? 0).toISOString().slice(0, 10)}, more than a day ahead of the relay’s clock: one of the clocks is wrong, or was. Set it right, or go on after what is there.`;

export function createSessionRoutes({ host, log, streams, checkStreams }: SessionRoutesDeps): Routes {
  return (route) => {
    route('/api/sessions', {
      async POST(context) {
        const request = await readBody(context, startSessionSchema);
        const started = await host.start(request);
        const { sessionId } = started;
        if (sessionId === null) throw problem(422, 'clock-ahead', clockAhead(request.after ?? ''));
        if (!started.ok)
          throw problem(409, 'session-active', 'A session is running already.', { fields: { sessionId } });
        return context.json({ sessionId }, 201);
      },
    });
    route('/api/sessions/current', {
      async DELETE(context) {
        if (!(await host.end('ended'))) throw problem(409, 'no-session', 'No session is running.');
        return context.body(null, 204);
      },
    });
    route('/api/messages', {
      async POST(context) {
        const outcome = await host.post(await readBody(context, postMessageSchema));
        if (!outcome.ok) throw refusal(outcome);
        return context.json({ eventId: outcome.eventId }, 202);
      },
    });
    route('/api/agents/:id/stop', {
      async POST(context) {
        // One that has just finished by itself is what was asked for.
        await host.stop(idOf(context));
        return context.json({}, 202);
      },
    });
    route('/api/agents/:id/sleep', {
      async POST(context) {
        if (!(await host.sleep(idOf(context))))
          throw problem(404, 'not-awake', 'This agent is neither awake nor hatching.');
        return context.json({}, 202);
      },
    });
    route('/api/events', {
      GET(context: Context<Env>) {
        refuseHead(context);
        const after = cursorOf(context);
        checkStreams(context.get('browser'));
        const { outgoing } = context.env;
        return streamResponse(
          streams.open(
            { after, log: context.req.query('log') ?? null },
            () => outgoing.destroy(),
            context.get('browser'),
          ),
        );
      },
    });
    route('/api/events/ack', {
      async POST(context) {
        await log.ack((await readBody(context, ackSchema)).upTo);
        return context.body(null, 204);
      },
    });
  };
}
