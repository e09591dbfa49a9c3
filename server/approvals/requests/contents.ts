/**
 * The content that waiting calls are about. It is read again whenever a call is shown or answered.
 */
import type { Agreed } from '../../tools/index.ts';
import type { Pinned, PinnedCall, Pins } from '../pins/index.ts';
import type { CallRows, StoredCall } from './rows.ts';

export interface Contents {
  /** The call with the current content, and the earlier content beside it. */
  fresh(call: StoredCall): Promise<StoredCall>;
  /** The content that the person agreed to, for the tool that runs the call. */
  agreed(call: PinnedCall, pinned: Pinned | null): Agreed;
}

export function createContents({
  rows,
  pins,
}: {
  readonly rows: Pick<CallRows, 'askAnew' | 'get'>;
  readonly pins: Pins;
}): Contents {
  return {
    async fresh(call) {
      const { agentId, folder, tool, input, pinned, isPinned, content } = call;
      const now = await pins.of({ agentId, folder, tool, input: JSON.parse(input) });
      if (isPinned && (now?.pin ?? null) === (pinned?.pin ?? null)) return call;
      const first = content?.before ?? pinned?.files ?? [];
      // The content may have returned to what it was at first.
      const marks = (files: readonly { readonly path: string; readonly mark: string }[]) =>
        JSON.stringify(files.map(({ path, mark }) => [path, mark]).sort());
      const isAsBefore = marks(first) === marks(now?.files ?? []);
      await rows.askAnew(call, { now, before: !isPinned || isAsBefore ? null : first });
      return (await rows.get(call.callId)) ?? call;
    },
    agreed: (call, pinned) => ({
      markOf: (path) => pinned?.files.find((file) => file.path === path)?.mark,
      hold: () => pins.hold(call, pinned),
    }),
  };
}
