import { t } from '../../language/t.ts';
import { Dialog } from '../design/dialog.tsx';
import { ImportCopy } from './import-copy.tsx';
import './copies.css';

/** Restores a household from its copy before there is a team. */
export default function BringBack({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={t`Bring back a household`} onClose={onClose}>
      <div className="copies">
        <p>{t`A copy that was exported holds everybody, every word and the settings. You see what is in it before anything is taken.`}</p>
        <ImportCopy onlyWhole />
      </div>
    </Dialog>
  );
}
