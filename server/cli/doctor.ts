/** `roost doctor`: what this machine lacks for Roost, and what to do. One line for each part. */
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { errorMessage } from '../../src/shared/domain/platform/error-message.ts';
import { gitText } from '../platform/git/index.ts';
import { createProcesses, programAt, startProgram } from '../platform/processes/index.ts';
import { codeOf } from '../platform/errors.ts';
import { readTlsPair } from '../http/listen.ts';
import { isLoopback } from '../access/index.ts';
import type { Config } from '../startup/config.ts';
import { addressOfRelay, isHome } from '../startup/home.ts';
import { checkEmbedded, checkServer } from '../store/index.ts';
import { CHECKOUT_LIMITS } from '../projects/checkouts/settings.ts';
import { createSandbox } from '../execution/sandbox/index.ts';
import { withStoreCopy } from './backup.ts';
import type { Command } from './index.ts';

/** The oldest Node, as in package.json. */
const LEAST_NODE = [20, 19] as const;
/** ms for an answer of a model's server, of the relay itself, or of a program. */
const ANSWER_MS = 5_000;
/** Days before its end from which a certificate is reported. */
const CERTIFICATE_DAYS = 14;
const DAY_MS = 86_400_000;
/** Ubuntu's switch. 1: only programs with a profile may create namespaces. */
const USERNS = '/proc/sys/kernel/apparmor_restrict_unprivileged_userns';

/** Lets bwrap alone create namespaces, and nothing else on the machine. */
const PROFILE = `printf '%s\\n' 'abi <abi/4.0>,' 'include <tunables/global>' 'profile bwrap /usr/bin/bwrap flags=(unconfined) {' '  userns,' '}' | sudo tee /etc/apparmor.d/bwrap && sudo systemctl reload apparmor`;

export interface Finding {
  readonly name: string;
  /** warn: Roost runs without it. fail: it does not run, or not safely. */
  readonly state: 'ok' | 'warn' | 'fail';
  readonly says: string;
}
type Check = (config: Config) => Promise<Omit<Finding, 'name'>>;
const ok = (says: string) => ({ state: 'ok', says }) as const;
const warn = (says: string) => ({ state: 'warn', says }) as const;
const fail = (says: string) => ({ state: 'fail', says }) as const;

const isOlder = ([major = 0, minor = 0]: readonly number[], [most, least]: readonly [number, number]) =>
  major < most || (major === most && minor < least);

const node: Check = () => {
  const { node: version } = process.versions;
  const old = isOlder(version.split('.').map(Number), LEAST_NODE);
  return Promise.resolve(
    old ? fail(`${version}. Roost needs ${LEAST_NODE.join('.')} or later: install a newer Node.js.`) : ok(version),
  );
};

/** The folder itself, or the nearest one above it that is there. */
const nearest = (path: string): string => (existsSync(path) ? path : nearest(dirname(path)));

const disk: Check = ({ home, keepFreeBytes }) => {
  const { bavail, bsize } = statfsSync(nearest(home));
  const [free, least] = [bavail * bsize, keepFreeBytes].map((bytes) => Math.round(bytes / 1_000_000));
  const says = `${free} MB free for ${home}`;
  return Promise.resolve(
    bavail * bsize < keepFreeBytes ? fail(`${says}. Agents write nothing below ${least} MB: make room.`) : ok(says),
  );
};

/** The output of a program, or null where it is missing or fails. */
async function outputOf(program: string, options: readonly string[]): Promise<string | null> {
  if (programAt(program) === null) return null;
  const child = startProgram({ program, options }, { stdio: ['ignore', 'pipe', 'ignore'], timeout: ANSWER_MS });
  let said = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (said += text));
  return await new Promise((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', (code) => resolve(code === 0 ? said.trim() : null));
  });
}

const clock: Check = async () => {
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const says = `${new Date().toISOString()}, time zone ${zone}`;
  const synchronised = await outputOf('timedatectl', ['show', '--property=NTPSynchronized', '--value']);
  return synchronised === 'no'
    ? warn(`${says}. It is not synchronised: routines run at the wrong moment. Try: sudo timedatectl set-ntp true`)
    : ok(says);
};

function canListen(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(codeOf(error)));
    server.listen(port, host, () => server.close(() => resolve(null)));
  });
}

const port: Check = async ({ host, port: number, home }) => {
  const code = await canListen(host, number);
  if (code === null) return ok(`${number} on ${host} is free`);
  const address = await realpath(home).then(addressOfRelay, () => null);
  if (address !== null) return ok(`the relay of this home runs at ${address}`);
  return fail(
    code === 'EADDRINUSE'
      ? `${number} on ${host} is used by another program. End that, or name another port with --port.`
      : `${number} on ${host} cannot be used (${code}). Name another with --port, or another address with --host.`,
  );
};

const store: Check = async ({ home, databaseUrl }) => {
  if (databaseUrl !== null) return ok(`Postgres answers: ${await checkServer(databaseUrl, ANSWER_MS)}`);
  const path = await realpath(home).catch(() => home);
  if (!isHome(path)) return ok(`there is no home at ${home} yet. The first start makes it`);
  const faults = await withStoreCopy(path, (copy, folder) =>
    copy === null ? Promise.resolve([]) : checkEmbedded(folder),
  );
  return faults.length === 0
    ? ok('SQLite finds no fault (integrity_check)')
    : fail(`SQLite finds faults: ${faults.slice(0, 3).join('; ')}. Restore a backup, or start with an empty home.`);
};

const sandbox: Check = async ({ home }) => {
  const box = createSandbox({ network: { addresses: 'public' }, processes: createProcesses(null), hidden: [home] });
  const { available, why } = await box.status();
  await box.close();
  if (available) return ok(why ?? 'agents’ commands run in it');
  const restricted = existsSync(USERNS) && readFileSync(USERNS, 'utf8').trim() === '1';
  return warn(
    restricted && programAt('bwrap') !== null
      ? `AppArmor lets bwrap create no namespaces, so commands are off. This profile allows it for bwrap alone: ${PROFILE}`
      : (why ?? 'commands are off'),
  );
};

const git: Check = async () => {
  const least = CHECKOUT_LIMITS.leastGit;
  if (programAt('git') === null) return warn('not installed: no projects and no undo. Install git.');
  const version = /\d+\.\d+[.\d]*/.exec(await gitText(['version'], { lane: (work) => work() }))?.[0] ?? '';
  return isOlder(version.split('.').map(Number), least)
    ? warn(`${version}. Projects need ${least.join('.')} or later, to merge: install a newer git.`)
    : ok(version);
};

/** Null: it answers, whatever it says. */
async function troubleAt(url: string | URL): Promise<string | null> {
  try {
    await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS), redirect: 'manual' });
    return null;
  } catch (error) {
    return errorMessage(error instanceof Error && error.cause !== undefined ? error.cause : error);
  }
}

const model: Check = async ({ messagesApi }) => {
  if (messagesApi === null)
    return ok('none in the environment. Connect one at the top of the page; until then a demo answers');
  const url = messagesApi.baseUrl ?? 'https://api.anthropic.com';
  const trouble = await troubleAt(url);
  return trouble === null
    ? ok(`${url} answers`)
    : fail(`${url} does not answer (${trouble}). Check ANTHROPIC_BASE_URL.`);
};

const tls: Check = async ({ tls: files, publicUrl, proxied }) => {
  if (files === null) return ok('no certificate of its own');
  const { cert } = await readTlsPair({ files, name: proxied ? null : (publicUrl?.hostname ?? null), now: Date.now });
  const { validTo } = new X509Certificate(cert);
  const days = Math.floor((Date.parse(validTo) - Date.now()) / DAY_MS);
  return days < CERTIFICATE_DAYS
    ? warn(`the certificate ends in ${days} days. Renew it.`)
    : ok(`valid for ${days} days`);
};

const phone: Check = async ({ publicUrl, host }) => {
  if (publicUrl === null)
    return isLoopback(host)
      ? ok('only this machine reaches Roost. docs/guide/phone.md shows how a phone does')
      : ok(`reached at ${host}`);
  const trouble = await troubleAt(new URL('/health', publicUrl));
  return trouble === null
    ? ok(`${publicUrl.origin} answers`)
    : warn(`${publicUrl.origin} does not answer (${trouble}). Start Roost, and check name, TLS and proxy.`);
};

const CHECKS: readonly (readonly [string, Check])[] = [
  ['Node', node],
  ['Disk', disk],
  ['Clock', clock],
  ['Port', port],
  ['Store', store],
  ['Sandbox', sandbox],
  ['git', git],
  ['Model', model],
  ['TLS', tls],
  ['Phone', phone],
];
const NAME_WIDTH = 8;

/** Exit code 1: something fails. */
export const doctor: Command = async ({ config, tell }) => {
  let failed = false;
  for (const [name, check] of CHECKS) {
    const { state, says } = await check(config).catch((error: unknown) => fail(errorMessage(error)));
    failed ||= state === 'fail';
    tell(`${state.padEnd(4)}  ${name.padEnd(NAME_WIDTH)}  ${says.replace(/\s+/g, ' ')}`);
  }
  return failed ? 1 : 0;
};
