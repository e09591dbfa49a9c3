/** What the tabs of an agent's own page are called. */
import type { PortraitTab } from '../routes.ts';

export const TAB_TITLES: readonly { readonly tab: PortraitTab; readonly title: string }[] = [
  { tab: 'soul', title: 'Soul' },
  { tab: 'conversations', title: 'Conversations' },
  { tab: 'deeds', title: 'What it did' },
  { tab: 'costs', title: 'Costs' },
  { tab: 'more', title: 'More' },
];
