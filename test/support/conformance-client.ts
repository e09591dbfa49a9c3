/**
 * The relay's connection to an MCP server and its sign-in, as the client that the conformance suite
 * starts for each scenario.
 */
import { z } from 'zod';
import { realTimers } from '../../src/shared/domain/platform/timers.ts';
import { checkForm } from '../../src/shared/domain/question-form.ts';
import type { Asks } from '../../server/mcp/client/elicitation.ts';
import { createLink } from '../../server/mcp/client/link.ts';
import { MCP_LIMITS } from '../../server/mcp/client/settings.ts';
import { createSignIn } from '../../server/mcp/client/sign-in.ts';
import { createKeyFilter } from '../../server/platform/key-filter.ts';

const url = process.argv.at(-1) ?? '';
const filter = createKeyFilter();
const elapsed = () => performance.now();
/** How often a call may end in a sign-in. */
const SIGN_INS = 2;

/** What the person was given for a client that they registered by hand. */
const { client_id: id, client_secret: secret } = z
  .looseObject({ client_id: z.string().optional(), client_secret: z.string().optional() })
  .parse(JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}'));

const signIn = createSignIn({
  client: id === undefined ? undefined : { id, secret },
  ...{ url, kept: null, filter, elapsed, version: '1', may: 'any', fetch, limits: MCP_LIMITS },
  keep: () => Promise.resolve(),
});
const link = createLink({
  attachment: { kind: 'address', url, headers: {} },
  auth: signIn.auth,
  onTokenRefused: (scope) => void signIn.refused(scope),
  processes: { start: () => Promise.reject(new Error('none')) },
  sandbox: { start: () => Promise.reject(new Error('none')) },
  onChange: () => undefined,
  ...{ fetch, version: '1', timers: realTimers, now: () => Date.now(), elapsed, filter, limits: MCP_LIMITS },
});

/** The person allows it, on the page that opens. */
async function allow(): Promise<void> {
  const page = await signIn.begin('http://localhost:3000/signed-in');
  const { headers } = await globalThis.fetch(page, { redirect: 'manual' });
  await signIn.finish(new URL(headers.get('location') ?? '').searchParams);
  await link.retry();
}

/** The person sends a form as it stands: each field has its preset. */
const PERSON: Asks = {
  agentId: 'a1',
  person: ({ fields }) => {
    const checked = checkForm(fields, {});
    return Promise.resolve(checked.ok ? { action: 'accept', content: checked.content } : { action: 'decline' });
  },
};

const VALUES: Readonly<Record<string, unknown>> = {
  number: 2,
  integer: 2,
  string: 'x',
  boolean: true,
  array: [],
  object: {},
};
const inputOf = ({ properties = {} }: { properties?: Record<string, { type?: string }> }) =>
  Object.fromEntries(Object.entries(properties).map(([name, { type = 'string' }]) => [name, VALUES[type]]));

let { state, tools } = await link.open();
for (let times = 0; state === 'sign-in' && times < SIGN_INS; times++) {
  await allow();
  ({ state, tools } = link.status());
}
for (const { name, schema } of tools ?? [])
  for (let times = 0; times < SIGN_INS; times++) {
    const done = await link.call(name, inputOf(schema), PERSON, AbortSignal.timeout(20_000)).then(
      () => true,
      () => false,
    );
    if (done || link.status().state !== 'sign-in') break;
    await allow();
  }
await link.close();
process.exit(state === 'connected' ? 0 : 1);
