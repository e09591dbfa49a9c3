/** A home's session and its events. */
import type { Context } from 'hono';
import type { HTTPException } from 'hono/http-exception';
import type { MessageId } from '../../src/shared/domain/ids.ts';
import { sessionEndpoints } from '../../src/shared/protocol/endpoints/session.ts';
import type { EventLog, PostOutcome, SessionHost } from '../contracts/index.ts';
import { answer, applicationOf, refuseHead, type Handled } from '../http/endpoint.ts';
import { misfitIn, problem } from '../http/problem.ts';
import type { Runs } from '../agents/runs/index.ts';
import type { Streams } from '../http/stream.ts';
import { createStarts, type StartsDeps } from './start-session.ts';

export interface SessionRoutesDeps extends StartsDeps {
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

export function createSessionRoutes(given: SessionRoutesDeps): readonly Handled[] {
  const { host, runs, log, streams, checkStreams } = given;
  const starts = createStarts(given);
  /** Whose session runs; a relay that is started again runs none. */
  let startedBy: { readonly sessionId: string; readonly credentialId: string | null } | null = null;
  return answer(sessionEndpoints, {
    async startSession({ body }, context) {
      const started = await starts(body, context);
      startedBy = { sessionId: started.sessionId, credentialId: context.get('client')?.credentialId ?? null };
      return started;
    },
    async endSession(_, context) {
      const application = applicationOf(context);
      const isItsOwn =
        startedBy?.sessionId === host.sessionId() && startedBy?.credentialId === application?.credentialId;
      if (application !== null && !isItsOwn)
        throw problem(403, 'no-scope', 'This application did not start the session that runs, and may not end it.');
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
