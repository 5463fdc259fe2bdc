// SPDX-License-Identifier: Apache-2.0
// An Open MPI of another version has none of these: the component is loaded there all the same, and takes no part
// (fits() in component.c). Included before the headers of Open MPI that name them.
#pragma once

#pragma weak ompi_group_get_proc_ptr_raw
#pragma weak opal_output_verbose
#pragma weak opal_pmix
#pragma weak opal_value_load
#pragma weak opal_value_t_class
#pragma weak opal_value_unload
#pragma weak orte_process_info
