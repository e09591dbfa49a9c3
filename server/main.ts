/** Starts the relay from the command line. */
import { readConfig, type Config } from './config.ts';
import { findPackageRoot } from './package-root.ts';
import { openRelay, type Relay } from './relay.ts';
import { helpText } from './settings.ts';
import { StartError } from './start-error.ts';
import { StoreError } from './store/index.ts';

/** ms in which everything must be flushed and closed. */
const CLOSE_WITHIN_MS = 4_000;

const tell = (line: string) => void process.stderr.write(`${line}\n`);

/** One line for what the person can do something about; everything else with its stack. */
function explain(error: unknown): number {
  if (error instanceof StartError || error instanceof StoreError) {
    tell(error.message.replace(/\s+/g, ' '));
    return error instanceof StartError ? error.exitCode : 1;
  }
  tell(`Roost cannot start: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return 1;
}

async function showLink(relay: Relay): Promise<string> {
  const link = await relay.newLink();
  process.stdout.write(`\n  Open Roost:  ${link}\n\n`);
  return link;
}

async function openBrowser(link: string): Promise<void> {
  const { default: open } = await import('open');
  const child = await open(link);
  child.once('error', () => tell('No browser could be opened. Open the link above yourself.'));
}

/** The first signal ends the relay in good order, a second one at once. */
function endOnSignals(end: () => Promise<void>): void {
  let ending = false;
  const onSignal = () => {
    if (ending) process.exit(1);
    ending = true;
    setTimeout(() => {
      tell('Not everything could be closed in time; nothing that was stored is lost.');
      process.exit(0);
    }, CLOSE_WITHIN_MS).unref();
    end().then(
      () => process.exit(0),
      (error: unknown) => process.exit(explain(error)),
    );
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
}

async function run(config: Config): Promise<void> {
  const root = findPackageRoot(import.meta.url);
  const opening = openRelay({ config, root, say: tell, now: Date.now });
  endOnSignals(async () => {
    await (await opening).close();
  });
  const relay = await opening;
  process.on('uncaughtException', (error) => {
    relay.logger.error('The relay broke and ends; the next start closes the session.', { error });
    process.exit(explain(error));
  });
  const link = await showLink(relay);
  if (relay.rehearsal) tell('No model is connected: a rehearsal mind answers. ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL connects one.');
  if (process.stdin.isTTY) {
    tell('The link works once. Enter prints a fresh one; Ctrl+C ends Roost.');
    process.stdin.on('data', () => void showLink(relay).catch((error: unknown) => tell(`No link: ${error instanceof Error ? error.message : String(error)}`)));
  }
  if (config.open && process.stdout.isTTY && !process.env['CI']) await openBrowser(link);
}

// Whoever reads our output may leave before we do.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

try {
  const config = readConfig(process.argv.slice(2), process.env);
  if (config === null) process.stdout.write(helpText());
  else await run(config);
} catch (error) {
  process.exitCode = explain(error);
  process.exit();
}
