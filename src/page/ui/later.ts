/**
 * Loads the parts of the page that the first paint does not need, right after it. Later the relay
 * may be gone, and the page must still work then.
 */
import { preloadTalk } from './chat/conversation.tsx';
import { fetchCommands } from './commands/later.ts';
import { fetchAgentExport } from './exports/later.ts';
import { fetchDeviceDialogs } from './devices/later.tsx';

export async function fetchLaterParts(): Promise<void> {
  // A module that fails to load now is requested again on use, and its user reports the failure.
  await Promise.allSettled([
    preloadTalk(),
    fetchCommands(),
    import('./shell/land.tsx'),
    import('./shell/late-window.ts'),
    import('./shell/sync-sign.tsx'),
    import('./shell/wakes-stopped.tsx'),
    import('./shell/keys-dialog.tsx'),
    import('../state/file-shelf.ts'),
    import('../state/actions/withdraw.ts'),
    import('../state/outbox/restore.ts'),
    import('../state/agent-snapshot.ts'),
    import('./grid/seat-moves.ts'),
    import('./grid/letters.ts'),
    import('./grid/now.tsx'),
    import('./grid/breath.tsx'),
    import('./grid/sleepers.tsx'),
    import('./grid/egg-words.tsx'),
    import('./agent/share-birth.tsx'),
    import('./grid/choose-who.tsx'),
    import('./grid/seat-task.tsx'),
    import('./grid/call-trouble.tsx'),
    import('./agent/agent-panel.tsx'),
    import('./portrait/portrait-page.tsx'),
    import('./agent/change-dialog.tsx'),
    import('./inbox/inbox-dialog.tsx'),
    import('./inbox/inbox-page.tsx'),
    import('./settings/settings-page.tsx'),
    import('./threads/threads-page.tsx'),
    import('./projects/projects-page.tsx'),
    import('./activity/activity-page.tsx'),
    import('./costs/cost-chip.tsx'),
    import('./costs/budget-banner.tsx'),
    import('./storage/storage-banners.tsx'),
    import('./models/demo-team.tsx'),
    import('./schedule/schedule-page.tsx'),
    import('./schedule/morning.tsx'),
    import('./schedule/morning-page.tsx'),
    import('./schedule/agent-warning.tsx'),
    import('./files/open-file.tsx'),
    import('./costs/reply-cost.tsx'),
    import('./files/files-page.tsx'),
    import('./models/connect-dialog.tsx'),
    import('./approvals/approval-bar.tsx'),
    import('./models/picker.tsx'),
    import('./models/connected.tsx'),
    import('./everyone/everyone-page.tsx'),
    import('./voice/hands-free.tsx'),
    import('./records/restore-records.tsx'),
    import('./records/record-approvals.tsx'),
    import('./approvals/waiting-approvals.tsx'),
    import('./palette/palette.tsx'),
    import('./preview/wake-preview.tsx'),
    import('./agent/forget-dialog.tsx'),
    import('./exports/adopt-dialog.tsx'),
    import('./exports/bring-back.tsx'),
    import('./welcome/on-its-way.tsx'),
    import('./welcome/returning.tsx'),
    fetchAgentExport(),
    fetchDeviceDialogs(),
  ]);
}
