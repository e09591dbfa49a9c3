/**
 * Makes the relay reachable for the person’s own devices by Tailscale Serve.
 *
 * Tailscale ends TLS on this machine and passes calls on to the relay, which stays on loopback.
 * Tailscale stores the address, and the relay asks for it. So it is known after a restart, too.
 */
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { sentence } from '../../src/shared/domain/names.ts';
import { parseJson } from '../../src/shared/domain/platform/json.ts';
import { tailnetEndpoints } from '../../src/shared/protocol/endpoints/access.ts';
import { answer, type Handled } from '../http/endpoint.ts';
import { problem } from '../http/problem.ts';
import { programAt, startShort } from '../platform/processes/index.ts';

const TAILNET = {
  /** ms that Tailscale may take for an answer. */
  answerMs: 5_000,
  /** ms that it may take to make the address. The first time, it fetches a certificate. */
  serveMs: 30_000,
  /** Characters of its output that are read. */
  mostOutput: 1_000_000,
  /** Characters of its last words that the person is shown. */
  mostShown: 400,
  /** The port that an address without a port has. */
  usualPort: 443,
} as const;
/** Names of the program. The app for macOS does not put its own into the PATH. */
const PROGRAMS = ['tailscale', '/Applications/Tailscale.app/Contents/MacOS/Tailscale'];

const statusSchema = z.object({
  BackendState: z.string(),
  Self: z.object({ DNSName: z.string().default('') }).optional(),
});
const servedSchema = z.object({
  Web: z
    .record(
      z.string(),
      z.object({ Handlers: z.record(z.string(), z.object({ Proxy: z.string().optional() })).default({}) }),
    )
    .default({}),
});

interface TailnetDeps {
  /** The port of the relay on loopback. */
  readonly port: number;
  /** Called with each address that leads here. */
  readonly onAddress: (address: URL) => void;
}

export interface Tailnet {
  /** The address that leads here, as far as is known. Null: none. */
  known(): string | null;
  /** `canServe`: Tailscale is on this machine and signed in. */
  look(): Promise<{ readonly address: string | null; readonly canServe: boolean }>;
  /** Throws a problem that says what Tailscale says. */
  serve(): Promise<string>;
}

async function textOf(output: Readable): Promise<string> {
  let text = '';
  for await (const piece of output.setEncoding('utf8')) text = (text + String(piece)).slice(-TAILNET.mostOutput);
  return text;
}

/** Runs Tailscale. Resolves with null where it is not there or cannot be started. */
async function tailscale(
  options: readonly string[],
  ms: number,
): Promise<{ readonly code: number | null; readonly out: string; readonly errors: string } | null> {
  const program = PROGRAMS.map((name) => programAt(name)).find((file) => file !== null);
  if (!program) return null;
  const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/' };
  const started = await startShort({ program, options, mark: null }, { cwd: '/', env }).catch(() => null);
  if (!started) return null;
  const { pid, stdin, stdout, stderr, closed } = started;
  stdin.end();
  const timer = setTimeout(() => {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // The process has ended already.
    }
  }, ms);
  const [out, errors, code] = await Promise.all([textOf(stdout), textOf(stderr), closed]);
  clearTimeout(timer);
  return { code, out, errors };
}

export function createTailnet({ port, onAddress }: TailnetDeps): Tailnet {
  let lastAddress: string | null = null;
  const targets = ['127.0.0.1', 'localhost'].map((name) => `http://${name}:${port}`);

  async function served(): Promise<z.output<typeof servedSchema>['Web']> {
    const answered = await tailscale(['serve', 'status', '--json'], TAILNET.answerMs);
    return (answered && servedSchema.safeParse(parseJson(answered.out)).data?.Web) ?? {};
  }
  function addressIn(web: z.output<typeof servedSchema>['Web']): string | null {
    const [host] = Object.entries(web).find(([, { Handlers }]) => targets.includes(Handlers['/']?.Proxy ?? '')) ?? [];
    if (host === undefined) return null;
    const url = new URL(`https://${host}`);
    if (lastAddress !== url.origin) onAddress(url);
    return url.origin;
  }
  async function look() {
    lastAddress = addressIn(await served());
    if (lastAddress !== null) return { address: lastAddress, canServe: true };
    const status = await tailscale(['status', '--json'], TAILNET.answerMs);
    const read = status && statusSchema.safeParse(parseJson(status.out)).data;
    return { address: null, canServe: read?.BackendState === 'Running' && (read.Self?.DNSName ?? '') !== '' };
  }

  return {
    known: () => lastAddress,
    look,
    async serve() {
      const web = await served();
      // What another program has at the usual port stays.
      const isTaken = Object.keys(web).some((host) => host.endsWith(`:${TAILNET.usualPort}`));
      const at = isTaken ? port : TAILNET.usualPort;
      const done = await tailscale(['serve', '--bg', `--https=${at}`, `http://127.0.0.1:${port}`], TAILNET.serveMs);
      const { address } = await look();
      if (address !== null) return address;
      const words = done && `${done.errors}\n${done.out}`.trim().slice(-TAILNET.mostShown);
      throw problem(
        409,
        'no-tailnet',
        words ? sentence`Tailscale says: ${words}` : sentence`Tailscale did not answer. Is it running?`,
      );
    },
  };
}

/** `tailnet` null: this relay has another address, or other machines reach it already. */
export const createTailnetRoutes = (tailnet: Tailnet | null): readonly Handled[] =>
  answer(tailnetEndpoints, {
    tailnet: async () => (await tailnet?.look()) ?? { address: null, canServe: false },
    async serveTailnet() {
      if (!tailnet) throw problem(409, 'no-tailnet', sentence`This relay has an address from elsewhere already.`);
      return { address: await tailnet.serve() };
    },
  });
