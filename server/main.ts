/** Starts the relay from the command line. */
import { fileURLToPath } from 'node:url';
import { realTimers } from '../src/shared/domain/platform/timers.ts';
import { isLoopback } from './access/index.ts';
import { COMMANDS, isCommand, runCommand } from './cli/index.ts';
import { asksToStop, householdToRemove, readConfig, type Config } from './startup/config.ts';
import { askToEnd } from './startup/home.ts';
import { findPackageRoot } from './startup/package-root.ts';
import { ENDS_WITH_PARENT } from './startup/settings.ts';
import { removeHousehold } from './startup/remove-household.ts';
import { openRelay, type Relay } from './relay.ts';
import { createTerminal, helpText } from './startup/terminal.ts';
import { closeInherited } from './platform/processes/index.ts';
import { StartError } from './platform/errors.ts';
import { errorMessage } from '../src/shared/domain/platform/error-message.ts';
import { StoreError } from './store/index.ts';

/** ms for flushing and closing everything. */
const CLOSE_WITHIN_MS = 4_000;
/**
 * ms that `--stop` waits for the relay. It is longer than the time for closing, after which the
 * relay gives up on slow parts.
 */
const STOP_WITHIN_MS = 15_000;

/** ms between two checks whether the parent process is still there. */
const PARENT_CHECK_MS = 250;

const tell = (line: string) => void process.stderr.write(`${line}\n`);
const stackOf = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error));

/**
 * Prints why the relay cannot start, and returns the exit code. Problems that the person can solve
 * get one line. All others get their stack.
 */
function explain(error: unknown): number {
  if (error instanceof StartError || error instanceof StoreError) {
    tell(error.message.replace(/\s+/g, ' '));
    return error instanceof StartError ? error.exitCode : 1;
  }
  tell(`Roost cannot start: ${stackOf(error)}`);
  return 1;
}

async function openBrowser(link: string): Promise<void> {
  const { default: open } = await import('open');
  const child = await open(link);
  child.once('error', () => tell('No browser could be opened. Open the link above yourself.'));
}

/** Exits with `code` once `end` is done or its time is over. */
function leave(end: () => Promise<void>, code: number): void {
  setTimeout(() => {
    tell('Not everything could be closed in time. Stored data is safe.');
    process.exit(code);
  }, CLOSE_WITHIN_MS).unref();
  end().then(
    () => process.exit(code),
    (error: unknown) => {
      tell(`Roost could not be closed in good order: ${stackOf(error)}`);
      process.exit(1);
    },
  );
}

/**
 * The first signal ends the relay in good order, a second one at once. Returns a function that does
 * the same for other causes.
 */
function endOnSignals(signals: readonly NodeJS.Signals[], end: () => Promise<void>): () => void {
  let ending = false;
  const once = () => {
    if (!ending) leave(end, 0);
    ending = true;
  };
  for (const signal of signals) process.on(signal, () => (ending ? process.exit(1) : once()));
  return once;
}

/**
 * npm forwards a signal to the shell in which it runs `npm start` or `npx roost`. That shell exits
 * without notifying the relay. A relay that is left behind would go on asking models. So the end of
 * the shell counts as the signal, and so does the end of a rehearsal that was killed.
 */
function endWithParent(end: () => void): void {
  const isOfNpm = ['start', 'npx'].includes(process.env['npm_lifecycle_event'] ?? '');
  if (!isOfNpm && process.env[ENDS_WITH_PARENT] === undefined) return;
  const parent = process.ppid;
  const checking = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(checking);
    end();
  }, PARENT_CHECK_MS).unref();
}

/** `--stop`: ends the relay of this home, from another terminal. */
async function stop({ home }: Config): Promise<void> {
  const asked = await askToEnd(home, STOP_WITHIN_MS);
  switch (asked.kind) {
    case 'none':
      throw new StartError(`No relay runs on the home ${home}. If yours has another home, name it with --home.`);
    case 'ended':
      return tell('Roost has ended. What comes due until it is started again is skipped, and not made up for.');
    case 'hangs':
      throw new StartError(
        `The relay on the home ${home} was asked to end, and has not within ${STOP_WITHIN_MS / 1_000} s: it may hang. End its process${asked.pid === null ? '' : `, ${asked.pid},`} yourself; nothing that was stored is lost, and what it was at is told at its next start.`,
      );
    default:
      return asked satisfies never;
  }
}

/**
 * After an uncaught error the state is unknown. So the sessions are closed as crashed, and the
 * process ends. `isEnding`: the process ends for another reason, which was reported.
 */
function endOnFault(relay: Relay, isEnding: () => boolean): void {
  let ending = false;
  process.on('uncaughtException', (error) => {
    relay.logger.error('The relay failed, and ends.', { error });
    if (isEnding()) return;
    // Errors while it ends are reported, and do not stop it from ending.
    tell(
      ending
        ? stackOf(error)
        : `Roost broke, and ends: ${stackOf(error)}\nWhat was stored is kept. Start it again; please report this.`,
    );
    if (ending) return;
    ending = true;
    leave(() => relay.close('crash'), 1);
  });
}

/** Runs the command that the arguments name. Resolves with its exit code. Null: none is named. */
async function command(args: readonly string[]): Promise<number | null> {
  if (!isCommand(args)) return null;
  process.umask(0o077);
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  return await runCommand(args, { version: findPackageRoot(import.meta.url).version, tell: say });
}

async function run(config: Config): Promise<void> {
  // Files that are written from here on are readable only by their owner. This includes the
  // store's, which asks for wider permissions.
  process.umask(0o077);
  const root = findPackageRoot(import.meta.url);
  // Without a terminal that could be closed, SIGHUP has its usual meaning for servers.
  const hangUpReloads = config.tls !== null && !process.stdin.isTTY;
  const end = endOnSignals(['SIGINT', 'SIGTERM', ...(hangUpReloads ? [] : ['SIGHUP' as const])], async () => {
    await (await opening).close();
  });
  endWithParent(end);
  // The link is the first line. What the start has to report follows it.
  let notices: string[] | null = [];
  let isStoreLost = false;
  const opening = openRelay({
    ...{ config, root, now: Date.now, elapsed: () => performance.now() },
    say: (line) => void (notices ? notices.push(line) : tell(line)),
    onAskedToEnd() {
      tell('Roost was asked to end, with --stop.');
      end();
    },
    onStoreLost(error) {
      isStoreLost = true;
      tell(
        `The store failed (${errorMessage(error)}), and Roost ends. What was answered is stored. Start it again; please report this.`,
      );
      leave(async () => (await opening).close('crash'), 1);
    },
  });
  const tellNotices = () => {
    notices?.forEach(tell);
    notices = null;
  };
  const relay = await opening.catch((error: unknown) => {
    tellNotices();
    throw error;
  });
  endOnFault(relay, () => isStoreLost);
  if (hangUpReloads) process.on('SIGHUP', () => void relay.reloadCertificate?.());
  const reachable = config.publicUrl !== null || !isLoopback(config.host);
  const terminal = createTerminal({
    input: process.stdin,
    output: process.stdout,
    newLink: relay.newLink,
    reachable,
    tell,
  });
  const opens = config.open && process.stdout.isTTY && !process.env['CI'];
  const link = await terminal.show({ code: !opens });
  tellNotices();
  if (relay.rehearsal)
    tell(
      'No model is connected. You’re in the demo, and its answers are scripted. Connect a model at the top of the page.',
    );
  terminal.listen();
  if (config.dailyBackup) {
    const { startDailyBackup, backupBeside } = await import('./cli/daily-backup.ts');
    startDailyBackup({
      ...config.dailyBackup,
      write: backupBeside(fileURLToPath(import.meta.url), config.home),
      now: Date.now,
      timers: realTimers,
      tell,
    });
  }
  if (opens) await openBrowser(link);
}

// The reader of our output may exit before the relay does.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

async function main(): Promise<void> {
  // Before anything is opened, and before the browser starts.
  closeInherited();
  try {
    const args = process.argv.slice(2);
    const code = await command(args);
    if (code !== null) process.exit(code);
    const config = readConfig(args, process.env);
    const remove = config && householdToRemove(args);
    if (config === null) process.stdout.write(helpText(COMMANDS));
    else if (asksToStop(args)) await stop(config);
    else if (remove !== null) await removeHousehold(config, remove, tell);
    else await run(config);
  } catch (error) {
    process.exitCode = explain(error);
    process.exit();
  }
}
void main();
