/**
 * Which files of a report may be run a second time: real browsers and relays on a busy machine fail
 * now and then by no fault of the code.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** More than these fail by something that is wrong. */
const MOST = 3;
const REAL = /\/test\/(?:browser|faults|relay|attacks)\//;

/**
 * Errors that nobody caught belong to no file; the run's own note beside the report counts them.
 * Without a note: unknown.
 */
function uncaught(path) {
  const note = join(dirname(path), 'run.json');
  return existsSync(note) ? JSON.parse(readFileSync(note, 'utf8')).unhandled : null;
}

/**
 * The failed files of the report at `path`, if they are few, all of real browsers or relays, and
 * all that is wrong; else none.
 */
export function unsteady(path, report) {
  const failed = report.testResults.filter(({ status }) => status === 'failed');
  const may = failed.length <= MOST && failed.every(({ name }) => REAL.test(name)) && uncaught(path) === 0;
  return may ? failed : [];
}

/** The first line of what was said about the first failure. */
export function reasonOf(file) {
  const failed = file.assertionResults.find(({ status }) => status === 'failed');
  const [said] = [...(failed?.failureMessages ?? []), file.message ?? '', 'no reason was given'].filter(Boolean);
  return `${failed ? `${failed.title}: ` : ''}${said.split('\n')[0]}`;
}
