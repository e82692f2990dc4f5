/** n8n-core 1.122.48 sets axios up by itself, as it is loaded. */
export function configureGlobalAxiosDefaults(): void {}
