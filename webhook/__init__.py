"""The admission webhook. It answers from memory and knows nothing of the API client."""
