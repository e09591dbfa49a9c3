import { t } from '../../language/t.ts';
import { Dialog } from '../design/dialog.tsx';
import { ImportCopy } from './import-file.tsx';
import './exports.css';

/** Restores a household from its copy before there is a team. */
export default function BringBack({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={t`Bring back a household`} onClose={onClose}>
      <div className="exports gap-7 stack narrow ink-2 text-3">
        <p>{t`An export has all agents, every message and the settings. You see its content before anything is imported.`}</p>
        <ImportCopy onlyWhole />
      </div>
    </Dialog>
  );
}
