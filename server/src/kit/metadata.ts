/** A merchant's own key-value pairs on a resource. Caudal stores and returns them without reading them. */
export type Metadata = Readonly<Record<string, string>>;

export const MAX_METADATA_PAIRS = 20;
export const MAX_METADATA_KEY_LENGTH = 40;
export const MAX_METADATA_VALUE_LENGTH = 500;
