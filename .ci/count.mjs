/**
 * Prints the counts of a vitest JSON report as one line, and exits non-zero unless tests ran and
 * all passed. Arguments: the report's path, the exit status of the run that wrote it, and the same
 * of a second run of the files that failed, where there was one (see `again.mjs`). A file that
 * passed then counts as passed, and is named before the last line.
 */
import { existsSync, readFileSync } from 'node:fs';
import { reasonOf, unsteady } from './failures.mjs';

const [path = '', status = '1', againPath = '', againStatus = '1'] = process.argv.slice(2);
const read = (from) => JSON.parse(readFileSync(from, 'utf8'));
const testsOf = (files, ...statuses) =>
  files.flatMap(({ assertionResults }) => assertionResults).filter((test) => statuses.includes(test.status)).length;

/**
 * A file that failed as a whole (an import, a hook) counts as one failure beside the tests that
 * failed.
 */
const failuresIn = (files) =>
  testsOf(files, 'failed') +
  files.filter((file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'))
    .length;

/**
 * The files as the second run left them. It counts only where it ran every test of a file, and
 * nothing failed beside them.
 */
function afterSecondRun(report) {
  const files = report.testResults;
  if (!existsSync(againPath)) return { files, unstable: [] };
  const again = new Map(read(againPath).testResults.map((file) => [file.name, file]));
  const mended = unsteady(path, report).filter((file) => {
    const second = again.get(file.name);
    return second?.status === 'passed' && second.assertionResults.length >= file.assertionResults.length;
  });
  return { files: files.map((file) => (mended.includes(file) ? again.get(file.name) : file)), unstable: mended };
}

function counts() {
  // No report: the install, the types, the lint or the build failed before any test could run.
  if (!existsSync(path)) return { passed: 0, failed: 1, skipped: 0, unstable: [] };
  const report = read(path);
  const { files, unstable } = afterSecondRun(report);
  const passed = testsOf(files, 'passed');
  const failed = failuresIn(files);
  // A run can fail without a failed test: an error that nobody caught, or no test at all.
  // 2: the types or the lint did, which no second run of a file makes good.
  const ended = unstable.length > 0 && status === '1' ? againStatus : status;
  const wrong = ended !== '0' || passed === 0;
  return {
    passed,
    failed: failed === 0 && wrong ? 1 : failed,
    skipped: testsOf(files, 'pending', 'skipped', 'todo', 'disabled'),
    unstable,
  };
}

const { passed, failed, skipped, unstable } = counts();
for (const file of unstable) console.log(`unstable: ${file.name.replace(/^.*\/(?=test\/)/, '')} (${reasonOf(file)})`);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed === 0 ? 0 : 1;
