/** The tab's side of direct lines. The owner's is ../direct. */
export { createCarrier, type Carrier, type CarrierDeps } from './carrier.ts';
