/** The endpoints of a home's session and its events. */
import type { Context } from 'hono';
import type { HTTPException } from 'hono/http-exception';
import { parseStamp } from '../../src/shared/domain/stamp.ts';
import { isSeatPosition, LEAD_ID } from '../../src/shared/domain/seat.ts';
import type { AgentPayload } from '../../src/shared/domain/wake-payload.ts';
import type { Answered, Given } from '../../src/shared/protocol/endpoints/endpoint.ts';
import { sessionEndpoints } from '../../src/shared/protocol/endpoints/session.ts';
import type { StartSession } from '../../src/shared/protocol/http.ts';
import type { AgentSnapshot } from '../../src/shared/protocol/snapshots.ts';
import type { TeamMember } from '../../src/shared/protocol/team.ts';
import type { WakeSource } from '../../src/shared/protocol/wakes.ts';
import type { MessageId } from '../../src/shared/domain/ids.ts';
import type { Wakes } from '../agents/wakes/contract.ts';
import type { PostOutcome, SessionHost } from '../agents/session/contract.ts';
import type { EventLog } from '../log/index.ts';
import type { Directory } from '../team/directory/index.ts';
import type { Configs } from '../team/gate/configs.ts';
import type { EventLists, TeamEvents } from '../team/pauses/index.ts';
import { answer, type ApiClient, applicationOf, type Env, type Handled, lacks, refuseHead } from '../http/endpoint.ts';
import { misfitIn, misfitsIn, problem } from '../http/problem.ts';
import type { Snapshots } from '../schedules/index.ts';
import { QUOTAS } from '../platform/quotas.ts';
import type { Streams } from './stream.ts';
import type { Runs } from '../agents/runs/index.ts';

// Starts a session: from the person's page, which supplies everything, or from an application,
// which only names agents.

type Body = Given<typeof sessionEndpoints.startSession>['body'];
type Started = Exclude<Answered<typeof sessionEndpoints.startSession>, null>;
type Came = NonNullable<Started['agents']>[number];

interface StartsDeps {
  readonly host: Pick<SessionHost, 'start' | 'bring'>;
  readonly directory: Pick<Directory, 'find'>;
  readonly snapshots: Pick<Snapshots, 'of' | 'lastSaid'>;
  readonly configs: Pick<Configs, 'agent'>;
  readonly wakes: Pick<Wakes, 'permitFor'>;
}

interface Called {
  readonly agent: TeamMember;
  /** It begins asleep. */
  readonly rests: boolean;
}

const NO_LEAD_SNAPSHOT =
  'No page has left the lead’s snapshot with this relay, so an application cannot start a session. Open Roost in a browser and leave the page open for some seconds.';
const clockAhead = (after: string) =>
  `The newest of this household is dated ${new Date(parseStamp(after)?.time ?? 0).toISOString().slice(0, 10)}, more than a day ahead of the relay’s clock: one of the clocks is wrong, or was. Set it right, or go on after what is there.`;

function payloadOf({ agentId: id }: TeamMember, snapshot: AgentSnapshot, lastSaid: number | null): AgentPayload | null {
  const { name, color, colorName, position, soul, transcript } = snapshot;
  if (!isSeatPosition(position)) return null;
  return {
    ...{ id, name, color, colorName, position, soul, transcript },
    ...(lastSaid === null ? {} : { asleepSince: lastSaid }),
  };
}

function createStarts({ host, directory, snapshots, configs, wakes }: StartsDeps) {
  /**
   * The named agents, and their settings in the session. Throws a problem that names the one that
   * does not fit.
   */
  async function read(seated: NonNullable<Body['agents']>): Promise<{ called: Called[]; lists: EventLists }> {
    const lists = new Map<string, Partial<TeamEvents>>();
    const called: Called[] = [];
    for (const [i, { agent: reference, sleepEvents, wakeEvents }] of seated.entries()) {
      const field = `agents.${i}.agent`;
      const member = await directory.find(reference);
      if (!member.ok) throw misfitIn(field, member.reason);
      const { agent } = member;
      if (agent.agentId === LEAD_ID) throw misfitIn(field, 'is the lead, which is in every session.');
      if (lists.has(agent.agentId)) throw misfitIn(field, `names ${agent.name} a second time.`);
      lists.set(agent.agentId, {
        ...(sleepEvents === undefined ? {} : { sleep_events: sleepEvents }),
        ...(wakeEvents === undefined ? {} : { wake_events: wakeEvents }),
      });
      const own = (await configs.agent(agent.agentId)).effective.coordination.sleep_events;
      called.push({ agent, rests: (sleepEvents ?? own).includes('agent_started') });
    }
    return { called, lists };
  }

  /**
   * Starts from stored agent snapshots. Throws a problem where they are not enough: a lead without
   * its soul would write a new one.
   */
  async function fromCopies(): Promise<StartSession> {
    const snapshot = await snapshots.of(LEAD_ID);
    if (!snapshot) throw problem(409, 'no-copy', NO_LEAD_SNAPSHOT);
    const lastSaid = await snapshots.lastSaid(LEAD_ID);
    const { human: name, language, name: lead, soul, transcript, session = {} } = snapshot;
    return {
      human: { name, ...(language === undefined ? {} : { language }) },
      lead: { name: lead, soul, transcript, ...(lastSaid === null ? {} : { asleepSince: lastSaid }) },
      settings: session,
    };
  }

  async function requestOf({ human, lead, after, ahead, settings }: Body, by: ApiClient | null): Promise<StartSession> {
    if (by === null) {
      if (!human) throw misfitsIn(lead ? ['human'] : ['human', 'lead'], 'is missing');
      if (!lead) throw misfitIn('lead', 'is missing');
      return {
        ...{ human, lead },
        ...(after === undefined ? {} : { after }),
        ...(ahead === undefined ? {} : { ahead }),
        ...(settings === undefined ? {} : { settings }),
      };
    }
    for (const [field, value] of Object.entries({ human, lead, after, ahead, settings }))
      if (value !== undefined) throw misfitIn(field, 'belongs to the household. An application sets only `agents`.');
    return await fromCopies();
  }

  async function bring({ agent, rests }: Called, source: WakeSource): Promise<Came> {
    const { agentId, name } = agent;
    const absent = (detail: string): Came => ({ agentId, name, state: 'absent', detail });
    const snapshot = await snapshots.of(agentId);
    const payload = snapshot && payloadOf(agent, snapshot, await snapshots.lastSaid(agentId));
    if (!payload)
      return absent(
        `No page has left the snapshot of ${name} with this relay. The agent comes in when a client of it calls, or when you wake it on the page.`,
      );
    if (rests) {
      const brought = await host.bring(payload);
      return brought.ok ? { agentId, name, state: 'asleep' } : absent(brought.detail);
    }
    const way = source.kind === 'person' ? 'person' : 'api';
    const request = { target: agentId, source, way, reason: null, messageId: null, callerSession: null } as const;
    const { decision, permit } = await wakes.permitFor(request);
    if (!permit) return absent(decision.detail);
    permit.releaseAfter(host.bring(payload).then((brought) => (brought.ok ? brought.over : undefined)));
    return { agentId, name, state: 'waking' };
  }

  return async function start(body: Body, context: Context<Env>): Promise<Started> {
    const by = applicationOf(context);
    const { called, lists } = await read(body.agents ?? []);
    const isWake = called.some(
      ({ agent, rests }) => !rests || (lists.get(agent.agentId)?.wake_events ?? []).length > 0,
    );
    if (by !== null && !by.scopes.includes('wake') && isWake) throw problem(403, 'no-scope', lacks(['wake']));
    const started = await host.start(await requestOf(body, by), lists);
    const { sessionId } = started;
    if (sessionId === null) throw problem(422, 'clock-ahead', clockAhead(body.after ?? ''));
    if (!started.ok) throw problem(409, 'session-active', 'A session is running already.', { fields: { sessionId } });
    const source: WakeSource = by === null ? { kind: 'person' } : { kind: 'api', name: by.label || 'an application' };
    const agents: Came[] = [];
    for (const each of called) agents.push(await bring(each, source));
    return { sessionId, ...(body.agents === undefined ? {} : { agents }) };
  };
}

// Limits of event streams: per sign-in, and at this relay.

const RETRY_AFTER_SECONDS = '5';

/** Throws a problem where no further stream may be opened. */
export type StreamLimit = (browser: string | undefined) => void;

export const createStreamLimit =
  (most: number, homes: () => Iterable<{ readonly streams: Pick<Streams, 'count' | 'countOf'> }>): StreamLimit =>
  (browser) => {
    let own = 0;
    let all = 0;
    for (const { streams } of homes()) {
      if (browser !== undefined) own += streams.countOf(browser);
      all += streams.count();
    }
    const refuse = (text: string) =>
      problem(503, 'too-many-streams', text, { headers: { 'retry-after': RETRY_AFTER_SECONDS } });
    if (own >= QUOTAS.streamsBySignIn)
      throw refuse(
        `This browser has ${own} pages of Roost open, which is the most. Close one, and this one goes on by itself.`,
      );
    if (all >= most) throw refuse('Too many pages are open at once. Close one and try again.');
  };

interface SessionRoutesDeps extends StartsDeps {
  readonly host: SessionHost;
  readonly runs: Pick<Runs, 'stop' | 'correctSummary'>;
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

/**
 * `Last-Event-ID` takes precedence over `?after=`. Throws a problem where it is not an event id.
 */
function cursorOf(context: Context): number {
  const [field, text] = [
    ['Last-Event-ID', context.req.header('last-event-id')] as const,
    ['after', context.req.query('after')] as const,
  ].find(([, value]) => value !== undefined && value !== '') ?? ['after', '0'];
  const id = /^\d{1,16}$/.test(text ?? '') ? Number(text) : NaN;
  if (!Number.isSafeInteger(id)) throw misfitIn(field, 'must be the id of an event');
  return id;
}

/** A response with an event stream. */
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
  /** The credential that started the running session. Forgotten with a restart, which runs none. */
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
    async withdrawMessage({ messageId }) {
      if (!(await host.withdraw(messageId as MessageId)))
        throw problem(
          409,
          'read-already',
          'The agent has read this already. You can change it with Edit from here, in its menu.',
        );
      return null;
    },
    correctSummary({ messageId, body: { text } }) {
      for (const place of [host, runs]) place.correctSummary(messageId as MessageId, text);
      return null;
    },
    async stop({ agentId }) {
      // A turn that has just finished by itself is fine too. A run outside the session would keep
      // the session waiting for its turn, so the run is stopped first.
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
