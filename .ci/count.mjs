/**
 * Prints the counts of a vitest JSON report as one line, and exits non-zero unless tests ran and all passed.
 * Arguments: the report's path and the exit status of the run that wrote it.
 */
import { existsSync, readFileSync } from 'node:fs';

const [path = '', status = '1'] = process.argv.slice(2);

/** A file that failed as a whole (an import, a hook) counts as one failure beside the tests that failed. */
function countFailed(report) {
  const whole = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  );
  return report.numFailedTests + whole.length;
}

function counts() {
  // No report: the install, the types, the lint or the build failed before any test could run.
  if (!existsSync(path)) return { passed: 0, failed: 1, skipped: 0 };
  const report = JSON.parse(readFileSync(path, 'utf8'));
  const failed = countFailed(report);
  // A run can fail without a failed test: an error that nobody caught, or no test at all.
  const wrong = status !== '0' || report.numPassedTests === 0;
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && wrong ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

const { passed, failed, skipped } = counts();
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed === 0 ? 0 : 1;
