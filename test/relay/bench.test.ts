import { describe } from 'vitest';
import { itRuns } from '../bench/smoke.ts';
import { longTests } from '../support/long-tests.ts';

/** These run each time: they take a second together. */
const QUICK = ['gate', 'store'];

describe('a part of `npm run bench`', () => itRuns('relay', QUICK, longTests('relay/bench.test.ts')));
