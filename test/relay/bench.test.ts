import { describe } from 'vitest';
import { itRuns } from '../bench/smoke.ts';

describe('a part of `npm run bench`', () => itRuns('relay'));
