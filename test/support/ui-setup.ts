/** How long tests of the page's parts wait for what they expect to see: a busy machine is not a failure. */
import { configure } from '@testing-library/react';

configure({ asyncUtilTimeout: 15_000 });
