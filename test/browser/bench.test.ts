import { describe } from 'vitest';
import { itRuns } from '../bench/smoke.ts';

describe('a part of `npm run bench`, in a browser', () => itRuns('browser'));
