import { t } from '../../language/t.ts';
import { Dialog } from '../design/dialog.tsx';
import { ImportCopy } from './import-file.tsx';
import './exports.css';

/** Restores a household from its copy before there is a team. */
export default function BringBack({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={t`Restore from an export`} onClose={onClose}>
      <div className="exports gap-7 stack narrow ink-2 text-3">
        <ImportCopy onlyWhole />
      </div>
    </Dialog>
  );
}
