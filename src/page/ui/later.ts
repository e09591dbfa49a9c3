/**
 * The parts of the page that are not needed to paint it. They are fetched right after that: later
 * the relay, which has them, may be gone, and a page must not break because of words that come just
 * then.
 */
import { preloadTalk } from './chat/conversation.tsx';
import { fetchCommands } from './commands/later.ts';
import { fetchAgentExport } from './copies/later.ts';
import { fetchDeviceDialogs } from './devices/later.tsx';

export async function fetchLaterParts(): Promise<void> {
  // What does not come now is asked for again when it is needed, and whoever needs it says what is
  // missing.
  await Promise.allSettled([
    preloadTalk(),
    fetchCommands(),
    import('./shell/land.tsx'),
    import('./shell/keys-dialog.tsx'),
    import('../state/file-shelf.ts'),
    import('../state/actions/withdraw.ts'),
    import('../state/take-up.ts'),
    import('../state/standing-copy.ts'),
    import('./grid/seat-moves.ts'),
    import('./grid/choose-who.tsx'),
    import('./grid/call-trouble.tsx'),
    import('./agent/agent-panel.tsx'),
    import('./portrait/portrait-page.tsx'),
    import('./agent/change-dialog.tsx'),
    import('./inbox/inbox-dialog.tsx'),
    import('./wakes/wakes-page.tsx'),
    import('./settings/settings-page.tsx'),
    import('./threads/threads-page.tsx'),
    import('./costs/costs-page.tsx'),
    import('./costs/budget-banner.tsx'),
    import('./storage/room-banner.tsx'),
    import('./models/demo-team.tsx'),
    import('./night/night-page.tsx'),
    import('./night/morning.tsx'),
    import('./files/files-page.tsx'),
    import('./models/connect-dialog.tsx'),
    import('./calls/calls-page.tsx'),
    import('./calls/waiting.tsx'),
    import('./palette/palette.tsx'),
    import('./preview/wake-preview.tsx'),
    import('./agent/forget-dialog.tsx'),
    import('./copies/adopt-dialog.tsx'),
    import('./copies/bring-back.tsx'),
    import('./welcome/on-its-way.tsx'),
    import('./welcome/returning.tsx'),
    fetchAgentExport(),
    fetchDeviceDialogs(),
  ]);
}
