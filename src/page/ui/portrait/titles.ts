/** Titles of the tabs of an agent's page. */
import { t } from '../../language/t.ts';
import type { PortraitTab } from '../routes.ts';

export const TAB_TITLES: readonly { readonly tab: PortraitTab; readonly title: string }[] = [
  { tab: 'about', title: t`About` },
  { tab: 'conversations', title: t`Conversations` },
  { tab: 'activity', title: t`Activity` },
  { tab: 'costs', title: t`Costs` },
  { tab: 'more', title: t`More` },
];
