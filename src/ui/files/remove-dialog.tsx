import type { AgentId } from '../../domain/ids.ts';
import { t } from '../../language/t.ts';
import type { FileEntry } from '../../protocol/endpoints/workspaces.ts';
import { filesOf } from '../../state/files.ts';
import { useRoost } from '../context.tsx';
import { SureDialog } from '../parts/sure-dialog.tsx';

interface Props {
  readonly agentId: AgentId;
  readonly path: string;
  readonly entry: FileEntry;
  readonly onClose: () => void;
}

/** What lies in a folder lies nowhere else: before it goes, it is asked. */
export function RemoveDialog({ agentId, path, entry, onClose }: Props) {
  const files = filesOf(useRoost());
  return (
    <SureDialog
      title={t`Delete “${entry.name}”?`}
      does={[t`Delete it`, t`Deleting…`]}
      undone={t`It could not be deleted`}
      onSure={() => files.remove(agentId, path)}
      onClose={onClose}
    >
      <p>
        {t`${entry.kind === 'folder' ? t`The folder goes with all that is in it. ` : ''}It lies nowhere else, and cannot be brought back.`}
      </p>
    </SureDialog>
  );
}
