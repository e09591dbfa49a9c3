/** The relay's calls: routes to parts. Every error leaves as a problem document. */
import { randomUUID } from 'node:crypto';
import { Hono, type Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { ackSchema, postMessageSchema, rehearsalSchema, startSessionSchema, type Health, type Rehearsal } from '../src/protocol/http.ts';
import type { MindInfo } from '../src/protocol/events.ts';
import { onlyByTls, securityHeaders, type Access } from './access/index.ts';
import { limitBody, readBody } from './body.ts';
import type { EventLog, PostOutcome, SessionHost } from './contracts.ts';
import { createPageRoutes } from './page.ts';
import { problem, problemResponse } from './problem.ts';
import { createRoute, idOf, type Env, type Routes } from './route.ts';
import { createStreams } from './stream.ts';

export interface AppDeps {
  readonly access: Access;
  readonly host: SessionHost;
  readonly log: EventLog;
  readonly version: string;
  /** What would answer if a session began now. */
  readonly mind: MindInfo;
  /** Null with a real mind. */
  readonly rehearsal: { options(): Rehearsal; setOptions(options: Rehearsal): void } | null;
  /** Calls of parts that know themselves who may make them: before anybody is asked for a cookie. */
  readonly openRoutes: readonly Routes[];
  /** Calls of further parts, for browsers that are signed in. */
  readonly routes: readonly Routes[];
  /** The name that is served by our own TLS alone; null where there is none. */
  readonly tlsName: string | null;
  readonly streams: { readonly most: number; readonly bufferBytes: number };
  /** Where the built page is. */
  readonly pageFolder: string;
  /** An error of ours; `id` is what the person was told. */
  readonly onError: (id: string, error: unknown) => void;
}

export interface App {
  readonly fetch: Hono<Env>['fetch'];
  /** An answer for what is no HTTP request, or fails outside of every route. */
  readonly refuse: (error: unknown) => Response;
  /** Ends every event stream in good order. */
  closeStreams(): void;
  /** Ends those of sign-ins that have ended. */
  endStreamsOf(browsers: readonly string[]): void;
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

export function createApp(deps: AppDeps): App {
  const { access, host, log, version, mind, rehearsal, streams: limits, onError } = deps;
  const app = new Hono<Env>();
  const route = createRoute(app);
  const streams = createStreams({ log, version, bufferBytes: limits.bufferBytes, onError: (error) => onError(newErrorId(), error) });
  const newErrorId = () => randomUUID().slice(0, 8);

  function refuse(error: unknown): Response {
    if (error instanceof HTTPException) return error.getResponse();
    const id = newErrorId();
    onError(id, error);
    return problemResponse(500, 'broken', `Something in the relay broke. Its log says more under ${id}.`);
  }

  app.onError(refuse);
  app.use(securityHeaders());
  if (deps.tlsName !== null) app.use(onlyByTls(deps.tlsName));
  app.use(access.own);
  app.use('/api/*', async (context, next) => {
    await next();
    if (!context.res.headers.has('cache-control')) context.header('cache-control', 'no-store');
  });

  route('/api/health', {
    GET(context) {
      const { session } = log.snapshot();
      const health: Health = {
        status: 'ok',
        version,
        mind: mind.kind,
        model: session?.mind.leadModel ?? mind.leadModel,
        sessionActive: session !== null,
        sessionId: session?.sessionId ?? null,
      };
      return context.json(health);
    },
  });
  app.get('/enter', (context) => {
    // Programs that look at links before people do must not use them up.
    if (context.req.method !== 'GET') throw problem(405, 'method', 'This address takes GET.', { headers: { allow: 'GET' } });
    return access.enter(context);
  });

  for (const add of deps.openRoutes) add(route);

  app.use(access.signedIn);
  for (const prefix of ['/api/*', '/v1/*']) app.use(prefix, limitBody());
  app.all('/enter', () => {
    throw problem(405, 'method', 'This address takes GET.', { headers: { allow: 'GET' } });
  });

  route('/api/sessions', {
    async POST(context) {
      const started = await host.start(await readBody(context, startSessionSchema));
      const { sessionId } = started;
      if (!started.ok) throw problem(409, 'session-active', 'A session is running already.', { fields: { sessionId } });
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
      if (!(await host.sleep(idOf(context)))) throw problem(404, 'not-awake', 'This agent is neither awake nor hatching.');
      return context.json({}, 202);
    },
  });
  route('/api/events', {
    GET(context) {
      // A HEAD would open a stream that nobody reads.
      if (context.req.method === 'HEAD') throw problem(405, 'method', 'This address takes GET.', { headers: { allow: 'GET' } });
      const after = cursorOf(context);
      if (streams.count() >= limits.most)
        throw problem(503, 'too-many-streams', 'Too many pages are open at once. Close one and try again.', { headers: { 'retry-after': '5' } });
      const { outgoing } = context.env;
      const stream = streams.open({ after, log: context.req.query('log') ?? null }, () => outgoing.destroy(), context.get('browser'));
      return new Response(stream, {
        headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' },
      });
    },
  });
  route('/api/events/ack', {
    async POST(context) {
      await log.ack((await readBody(context, ackSchema)).upTo);
      return context.body(null, 204);
    },
  });
  const withRehearsal = () => rehearsal ?? refuseRealMind();
  route('/api/rehearsal', {
    GET: (context) => context.json(withRehearsal().options()),
    async PUT(context) {
      const options = await readBody(context, rehearsalSchema);
      withRehearsal().setOptions(options);
      return context.json(options);
    },
  });
  for (const add of deps.routes) add(route);
  for (const prefix of ['/api/*', '/v1/*']) app.all(prefix, () => {
    throw problem(404, 'no-such-call', 'The relay has no such call.');
  });
  app.route('/', createPageRoutes(deps.pageFolder));

  return { fetch: app.fetch, refuse, closeStreams: () => streams.close(), endStreamsOf: (browsers) => streams.endOf(browsers) };
}

function refuseRealMind(): never {
  throw problem(404, 'real-mind', 'A real mind is in use; there is no rehearsal to direct.');
}
