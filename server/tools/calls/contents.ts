/**
 * What lies where calls are about that wait for the person: looked at anew whenever they are shown
 * or answered.
 */
import type { Agreed } from '../../contracts/index.ts';
import type { Pinned, PinnedCall, Pins } from '../pins/index.ts';
import type { CallRows, KeptCall } from './rows.ts';

export interface Contents {
  /** The call as it is by now: what it is to is what lies there, beside what lay there before. */
  fresh(call: KeptCall): Promise<KeptCall>;
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
      const { agentId, tool, input, pinned, isPinned, content } = call;
      const now = await pins.of({ agentId, tool, input: JSON.parse(input) });
      if (isPinned && (now?.pin ?? null) === (pinned?.pin ?? null)) return call;
      const first = content?.before ?? pinned?.files ?? [];
      // It may be what it was at first once more.
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
