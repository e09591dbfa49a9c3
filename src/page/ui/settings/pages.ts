/** The pages of the settings with their parts, in display order. The first part is always open. */
export const SETTINGS_PAGES = {
  you: ['people', 'notifications', 'changes', 'about'],
  team: ['team'],
  agents: ['limits'],
  models: ['minds', 'costs', 'programs', 'mcp', 'clients'],
  data: ['devices', 'storage', 'exports'],
  privacy: ['privacy'],
  advanced: ['advanced', 'prompt'],
} as const;
export type SettingsPageName = keyof typeof SETTINGS_PAGES;
export type SettingsSection = (typeof SETTINGS_PAGES)[SettingsPageName][number];
export const SETTINGS_PAGE_NAMES = Object.keys(SETTINGS_PAGES) as readonly SettingsPageName[];
export const SETTINGS_SECTIONS: readonly SettingsSection[] = Object.values(SETTINGS_PAGES).flat();
export const partsOfPage = (page: SettingsPageName): readonly SettingsSection[] => SETTINGS_PAGES[page];
export const pageOfSection = (section: SettingsSection): SettingsPageName =>
  SETTINGS_PAGE_NAMES.find((page) => partsOfPage(page).includes(section)) ?? 'you';
